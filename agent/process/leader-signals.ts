/** What a signal of ours can have done to a command's first process: the evidence for who ended it. */
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { RecordedIdentity } from './identity.ts';
import { hasSameIdentity, isAlive, parseStat } from './identity.ts';

/** How the receiver had set itself up: `deadly` ends it with 128 + n, after `caught` it ends as it likes. */
export type Disposition = 'deadly' | 'caught' | 'ignored';

export interface LeaderSignal {
  readonly signal: NodeJS.Signals;
  readonly disposition: Disposition;
}

/** Position of the flags in `/proc/<pid>/stat` after the name, and the flag that stands from the first moment of exit. */
const FLAGS = 6;
const PF_EXITING = 0x4;

/**
 * Sends by `send`, and gives the evidence when the signal came before the leader's exit began. All in one turn of the
 * event loop, so that nobody sees the end before the evidence.
 */
export function observeLeader(
  leader: RecordedIdentity,
  signal: NodeJS.Signals,
  send: () => boolean,
): LeaderSignal | undefined {
  const disposition = isRunning(leader) ? readDisposition(leader.pid, signal) : undefined;
  const isSent = send();
  if (disposition === undefined || !isSent) return undefined;
  // A code chosen after a caught signal can't be told from one chosen before it. So with an exit that has begun by now
  // only the code of a death by that signal counts, which speaks for itself: a program may catch it to tidy up and then
  // raise it again, as Node does, within the moment between the signal and this look.
  return { signal, disposition: disposition === 'caught' && !isRunning(leader) ? 'deadly' : disposition };
}

function isRunning(recorded: RecordedIdentity): boolean {
  const text = readText(`/proc/${recorded.pid}/stat`);
  const identity = text === undefined ? undefined : parseStat(text);
  if (text === undefined || identity === undefined) return false;
  if (!hasSameIdentity(identity, recorded) || !isAlive(identity)) return false;
  const flags = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[FLAGS]);
  return (flags & PF_EXITING) === 0;
}

function readDisposition(pid: number, signal: NodeJS.Signals): Disposition {
  const status = readText(`/proc/${pid}/status`) ?? '';
  const number = constants.signals[signal];
  const has = (field: string): boolean => {
    const mask = new RegExp(`^${field}:\\s*([0-9a-f]+)$`, 'm').exec(status)?.[1] ?? '0';
    return ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
  };
  if (has('SigIgn')) return 'ignored';
  return has('SigCgt') ? 'caught' : 'deadly';
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Gone: then it was not running.
    return undefined;
  }
}
