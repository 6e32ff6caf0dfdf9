/** Whether a signal of ours ended a command, or it ended by itself while we were at it: a real exit wins (B04). */
import { constants } from 'node:os';
import type { KillCause } from '../journal/call-rows.ts';
import type { LeaderSignal } from '../process/leader-signals.ts';

/** A signal of this daemon that reached the command's own process before its exit began. */
export interface SentSignal extends LeaderSignal {
  readonly cause: KillCause;
}

/**
 * The cause of the last signal that explains the exit code: the one that the code names (128 + n), or one that the
 * command had caught, since what it exits with after its clean-up is its own choice.
 */
export function killedByOf(end: {
  readonly code: number;
  readonly sent: readonly SentSignal[];
  /** What an earlier daemon had set out to do. Nobody is left to say which of its signals arrived. */
  readonly inheritedIntent: KillCause | null;
}): KillCause | undefined {
  const explaining = end.sent.findLast(
    ({ signal, disposition }) => end.code === 128 + constants.signals[signal] || disposition === 'caught',
  );
  if (explaining !== undefined) return explaining.cause;
  if (end.inheritedIntent === null) return undefined;
  const isOfOurs = end.code === 128 + constants.signals.SIGTERM || end.code === 128 + constants.signals.SIGKILL;
  // Somebody had asked for a signal by name: any code of a death by signal is then its doing.
  return isOfOurs || (end.inheritedIntent === 'signal' && end.code > 128) ? end.inheritedIntent : undefined;
}
