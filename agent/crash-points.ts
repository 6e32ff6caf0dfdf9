/**
 * The named points at which daemon and keeper can be made to die, for the crash matrix. Each line says what a death
 * there can break.
 */
import { readFileSync } from 'node:fs';

/** Passed by the daemon, in `crashPoint`. */
export const CRASH_POINTS = {
  /** The request is read, nothing is written: the key must be unknown afterwards. */
  'before-reserve': true,
  /** The row is durable, no folder yet: must become void, never forgotten. */
  'after-reserve': true,
  /** The folder is complete, nobody was launched for it: void, and attempt 2 has a folder of its own. */
  'folder-written': true,
  /** The keeper is forked, whether it claims is open: one of the two wins. */
  'after-launch': true,
  /** `started` is seen, nobody has been told. */
  'after-started': true,
  /** The exit file is there, the terminal row is not: the exit must be read again. */
  'after-exit': true,
  /** The terminal row is durable, nobody has been told. */
  'before-answer': true,
  /** A fence is wanted and committed, the claim not taken yet: it must hold, or the command ran. */
  'before-fence-claim': true,
  /** The claim is taken for a fence, the row still open: it must become fenced, not void. */
  'after-fence-claim': true,
  /** The wish to kill is durable, no signal was sent: the next daemon must kill. */
  'before-kill': true,
  /** At start-up, with some open rows settled and others not: the next daemon must find the rest as it was. */
  'in-recovery': true,
} as const;

export type CrashPoint = keyof typeof CRASH_POINTS;

/** Passed by the keeper and its children: comments `# point: NAME` in keeper.sh, which tests turn into gates and deaths. */
export const KEEPER_POINTS = {
  /** Nothing made yet: like a keeper that never came. */
  'before-fifos': true,
  /** The FIFOs are there and nobody holds them: must read as free. */
  'before-hold': true,
  /** Holds `alive`, has claimed nothing: whoever claims first decides for ever. */
  'before-claim': true,
  /** Has the claim, nothing was forked: held, then free without `started`, which is void. */
  'after-claim': true,
  /** The reader runs, the command does not: the reader must not hold `alive`. */
  'reader-forked': true,
  /** In the child, which can still exec when the keeper is dead: never void. */
  'before-started': true,
  /** In the child: counts as run from here on. */
  'after-started': true,
  /** The command ended, its code is in the keeper's memory only: dies with it, and the key is lost. */
  'command-ended': true,
  /** The same, everything checked. */
  'before-exit': true,
  /** The exit is on disk, the keeper still holds `alive`. */
  'after-exit': true,
  /** In the reader, before the first byte is read: the command may die of its next write. */
  'reader-begun': true,
  /** In the reader, between two segments. */
  'reader-segment': true,
  /** In the reader, all written, not said so yet. */
  'reader-ended': true,
} as const;

export type KeeperPoint = keyof typeof KEEPER_POINTS;

/** Tests name a point, with `:n` for its n-th passing; unset in real use. */
const ARMED = process.env['LATCHKEY_CRASH_AT'];
/** The same in a file that is read at each passing, so that one life of the daemon can be armed later. */
const ARMED_FILE = process.env['LATCHKEY_CRASH_FILE'];
let passings = 0;

export function crashPoint(point: CrashPoint): void {
  const armed = ARMED_FILE === undefined ? ARMED : readArmed(ARMED_FILE);
  if (armed === undefined) return;
  const [name, count = '1'] = armed.split(':');
  if (name !== point) return;
  passings += 1;
  if (passings >= Number(count)) process.kill(process.pid, 'SIGKILL');
}

function readArmed(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
