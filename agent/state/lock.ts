/** One daemon per state folder (A14): an exclusive lock that the system itself drops when the process dies. */
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { CodedError } from '../../contract/failures.ts';

/** Held by an open exclusive transaction of a database that holds nothing; keep the object for the process's life. */
export function lockStateFolder(stateFolder: string): { release(): void } {
  const database = new DatabaseSync(join(stateFolder, 'lock.db'));
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch (error) {
    database.close();
    if (!/locked|busy/i.test((error as Error).message)) throw error;
    throw new CodedError(
      'configuration',
      `another agent uses the state folder ${stateFolder}: stop it, or give this one a folder of its own by --state`,
    );
  }
  return { release: () => database.close() };
}
