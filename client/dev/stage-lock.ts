/** One supervisor a stage. The system drops the lock with the process, so it is never stale. */
import { DatabaseSync } from 'node:sqlite';

/** Undefined when another process holds it. Keep the object for as long as the lock is wanted. */
export function lockStage(file: string): { release(): void } | undefined {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch (error) {
    database.close();
    if (/locked|busy/i.test((error as Error).message)) return undefined;
    throw error;
  }
  return { release: () => database.close() };
}
