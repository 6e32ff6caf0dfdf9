/**
 * The mark that a command and all that it starts carry in their environment. Only the command may carry it, not its
 * keeper and not the output reader: they would be killed with the tree.
 */
import { readFile } from 'node:fs/promises';
import type { ProcessIdentity } from './identity.ts';

export const CALL_MARKER_NAME = 'LATCHKEY_CALL';

/** Remembers what it has seen: a process begins with its parent's environment, so the answer for one doesn't change. */
export class MarkerSearch {
  readonly #entry: string;
  readonly #seen = new Map<string, boolean>();

  constructor(marker: string) {
    this.#entry = `\0${CALL_MARKER_NAME}=${marker}\0`;
  }

  async hasMarker(candidate: ProcessIdentity): Promise<boolean> {
    const name = `${candidate.pid}/${candidate.startTimeTicks}`;
    const remembered = this.#seen.get(name);
    if (remembered !== undefined) return remembered;
    const environment = await readEnvironment(candidate.pid);
    // Undefined isn't remembered: a process in the middle of an exec has no environment for a moment.
    if (environment === undefined || environment === '') return false;
    const isMarked = `\0${environment}\0`.includes(this.#entry);
    this.#seen.set(name, isMarked);
    return isMarked;
  }
}

/** Read one at a time: an environment may be some megabytes. Undefined when the process is gone or another user's. */
async function readEnvironment(pid: number): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/environ`, 'utf8');
  } catch {
    // Gone, or not ours to read: either way it shows no marker.
    return undefined;
  }
}
