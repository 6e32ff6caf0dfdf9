/** Who a pid is. A pid alone names nobody: it is used again (A2), so it always goes with its start time. */
import { readFileSync } from 'node:fs';

/** One process at the moment of reading. Pid and start time together are never used twice within a boot. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to the start of the process. */
  readonly startTimeTicks: number;
  /** The kernel's state letter: `R S D T Z X …`. */
  readonly state: string;
  readonly session: number;
  readonly group: number;
  readonly parent: number;
  readonly threads: number;
  /** Command name, at most 15 bytes, chosen by the process itself: it may hold any character. */
  readonly name: string;
}

/** What is remembered of a process to find it again. */
export interface RecordedIdentity {
  readonly pid: number;
  readonly startTimeTicks: number;
}

/** Positions in `/proc/<pid>/stat` after the name, see proc_pid_stat(5). */
const STATE = 0;
const PARENT = 1;
const GROUP = 2;
const SESSION = 3;
const THREADS = 17;
const START_TIME = 19;

/**
 * Reads who has this pid now, zombies included; undefined when nobody has it or it may not be read.
 * Synchronous on purpose: between this look and a signal nothing else may run (A2).
 */
export function readIdentity(pid: number): ProcessIdentity | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
  return parseStat(text);
}

/** Parses `/proc/<pid>/stat`. The name may hold spaces and parentheses, so it ends at the last one. */
export function parseStat(text: string): ProcessIdentity | undefined {
  const nameStart = text.indexOf('(');
  const nameEnd = text.lastIndexOf(')');
  if (nameStart === -1 || nameEnd < nameStart) return undefined;
  const fields = text.slice(nameEnd + 2).split(' ');
  const state = fields[STATE];
  const identity = {
    pid: Number.parseInt(text, 10),
    startTimeTicks: Number(fields[START_TIME]),
    session: Number(fields[SESSION]),
    group: Number(fields[GROUP]),
    parent: Number(fields[PARENT]),
    threads: Number(fields[THREADS]),
  };
  if (state === undefined || !Object.values(identity).every(Number.isSafeInteger)) return undefined;
  return { ...identity, state, name: text.slice(nameStart + 1, nameEnd) };
}

/**
 * False for a zombie: it holds its pid until its parent looks, but runs nothing any more. A process whose first thread
 * has ended reads as a zombie too while its other threads go on working: the count tells them apart.
 */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.state === 'Z') return identity.threads > 1;
  return identity.state !== 'X' && identity.state !== 'x';
}

/** Whether the recorded process itself is alive now: same pid, same start time, not a zombie. */
export function isSameProcess(recorded: RecordedIdentity): boolean {
  const current = readIdentity(recorded.pid);
  return current !== undefined && hasSameIdentity(current, recorded) && isAlive(current);
}

export function hasSameIdentity(left: RecordedIdentity, right: RecordedIdentity): boolean {
  return left.pid === right.pid && left.startTimeTicks === right.startTimeTicks;
}

/** ENOENT: gone. ESRCH: went while we read. EACCES and EPERM: another user's, where `/proc` is closed. */
function isUnreadable(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM';
}
