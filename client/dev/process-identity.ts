/** Who a recorded process is now. A pid alone names nobody: it is used again (A2). */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

export const processIdentitySchema = z.object({
  pid: z.int().min(2),
  /** Clock ticks from boot to its start: with the pid never used twice within a boot. */
  startTimeTicks: z.int(),
  bootId: z.string(),
});
export type ProcessIdentity = z.infer<typeof processIdentitySchema>;

/** Positions in `/proc/<pid>/stat` after the name, see proc_pid_stat(5). */
const STATE = 0;
const START_TIME = 19;

/** Undefined when nobody alive has this pid. */
export function findProcess(pid: number): ProcessIdentity | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // Gone, or went while it was read.
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const startTimeTicks = Number(fields[START_TIME]);
  if (!Number.isSafeInteger(startTimeTicks) || 'ZXx'.includes(fields[STATE] ?? 'Z')) return undefined;
  return { pid, startTimeTicks, bootId: bootId() };
}

export function isRunning(recorded: ProcessIdentity): boolean {
  const now = findProcess(recorded.pid);
  return now?.startTimeTicks === recorded.startTimeTicks && now.bootId === recorded.bootId;
}

/** Looks and signals without anything in between (A2); false when the recorded process is no more. */
export function signalProcess(recorded: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isRunning(recorded)) return false;
  try {
    process.kill(recorded.pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

export function ourIdentity(): ProcessIdentity {
  const identity = findProcess(process.pid);
  if (identity === undefined) throw new Error('/proc is not readable: Latchkey runs on GNU/Linux');
  return identity;
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
