/**
 * The sequence of the last commit, kept outside the state folder in a memory-backed one: a journal that is behind it
 * was overwritten with an older copy since this boot (L16). Gone after a reboot, when the incarnation tells instead.
 *
 * Where that folder is depends on the environment, and some are emptied at a logout. So the journal records where its
 * witness is and for which incarnation: in that incarnation a witness that is missing proves nothing, and the journal
 * is not to be trusted.
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export function witnessFolder(environment: NodeJS.ProcessEnv): string | undefined {
  const candidates = [environment['XDG_RUNTIME_DIR'], '/dev/shm'];
  return candidates.find((folder) => folder !== undefined && folder !== '' && existsSync(folder));
}

export class Witness {
  readonly path: string;
  #fd: number | undefined;

  constructor(path: string) {
    this.path = path;
  }

  static pathIn(folder: string, journalId: string): string {
    return join(folder, `latchkey-${journalId}`);
  }

  /** Undefined when there is none: a first start, or the first one since the boot. */
  read(): number | undefined {
    try {
      return Number(readFileSync(this.path, 'utf8').trim()) || 0;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  write(sequence: number): void {
    this.#fd ??= openSync(this.path, 'a+', 0o600);
    // Append mode would add: cut, then write. A torn witness reads as 0, which only makes it blind until the next one.
    ftruncateSync(this.#fd, 0);
    writeSync(this.#fd, `${sequence}\n`);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
