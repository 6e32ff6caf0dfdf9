/** The only place that sends signals: each is preceded, in the same turn of the event loop, by a look at who gets it (A2). */
import { hasSameIdentity, isAlive, readIdentity } from './identity.ts';
import type { ProcessIdentity, RecordedIdentity } from './identity.ts';

/** `gone` includes a pid that somebody else has by now; `refused` is another user's process. */
export type Delivery = 'sent' | 'gone' | 'refused' | 'protected';

/** A process can't leave its session without leaving its pid, so once is enough. */
const OWN = readIdentity(process.pid);

/** Never signalled: process 1 and the kernel, what shares their group or session, ourselves, our group and session. */
export function isProtected(candidate: Pick<ProcessIdentity, 'pid' | 'group' | 'session'>): boolean {
  // `kill(-1)` and `kill(0)` would reach everybody, so no group below 2 is ever a receiver. A command has a session of
  // its own, so nothing in session 0 or 1 can be part of one.
  if (candidate.pid <= 1 || candidate.group <= 1 || candidate.session <= 1) return true;
  if (candidate.pid === process.pid) return true;
  return OWN === undefined || candidate.group === OWN.group || candidate.session === OWN.session;
}

/** Signals one process if it is still the recorded one. */
export function signalProcess(recorded: RecordedIdentity, signal: NodeJS.Signals): Delivery {
  const current = readIdentity(recorded.pid);
  if (current === undefined || !hasSameIdentity(current, recorded) || !isAlive(current)) return 'gone';
  if (isProtected(current)) return 'protected';
  return deliver(current.pid, signal);
}

/**
 * Signals the group that `witness` was seen in, if it is still in that group and session: while a group has a member
 * its number is not given out again.
 */
export function signalGroupOf(witness: ProcessIdentity, signal: NodeJS.Signals): Delivery {
  const current = readIdentity(witness.pid);
  if (current === undefined || !hasSameIdentity(current, witness)) return 'gone';
  if (current.group !== witness.group || current.session !== witness.session) return 'gone';
  if (isProtected(current)) return 'protected';
  return deliver(-current.group, signal);
}

function deliver(receiver: number, signal: NodeJS.Signals): Delivery {
  try {
    process.kill(receiver, signal);
    return 'sent';
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ESRCH') return 'gone';
    if (code === 'EPERM') return 'refused';
    throw error;
  }
}
