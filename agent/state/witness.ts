/**
 * The sequence of the last commit, kept outside the state folder in a memory-backed one: a journal that is behind it
 * was overwritten with an older copy since this boot (L16). Gone after a reboot, when the incarnation tells instead.
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export function witnessFolder(environment: NodeJS.ProcessEnv): string | undefined {
  const candidates = [environment['XDG_RUNTIME_DIR'], '/dev/shm'];
  return candidates.find((folder) => folder !== undefined && folder !== '' && existsSync(folder));
}

export class Witness {
  readonly #path: string;
  #fd: number | undefined;

  constructor(folder: string, journalId: string) {
    this.#path = join(folder, `latchkey-${journalId}`);
  }

  /** 0 when there is none: a first start, or the first one since the boot. */
  read(): number {
    try {
      return Number(readFileSync(this.#path, 'utf8').trim()) || 0;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
      throw error;
    }
  }

  write(sequence: number): void {
    this.#fd ??= openSync(this.#path, 'a+', 0o600);
    // Append mode would add: cut, then write. A torn witness reads as 0, which only makes it blind until the next one.
    ftruncateSync(this.#fd, 0);
    writeSync(this.#fd, `${sequence}\n`);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
