import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { isAlive, readIdentity } from './identity.ts';
import type { ProcessIdentity } from './identity.ts';

/**
 * Processes read before other work may run. Reading one takes about 30 µs and never waits for a disk, so blocks
 * of synchronous reads are cheaper than one thread-pool trip each, and no block holds the event loop over 2 ms.
 */
const BLOCK = 64;

/** All processes that we may see, zombies included. Not a snapshot: what starts meanwhile may be missing. */
export async function listProcesses(): Promise<ProcessIdentity[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const processes: ProcessIdentity[] = [];
  for (let start = 0; start < pids.length; start += BLOCK) {
    if (start > 0) await setImmediate();
    for (const pid of pids.slice(start, start + BLOCK)) {
      const identity = readIdentity(pid);
      if (identity !== undefined) processes.push(identity);
    }
  }
  return processes;
}

/** Whether any process of this session is alive: it may still hold the command's output. */
export async function sessionHasLiving(session: number): Promise<boolean> {
  return (await listProcesses()).some((candidate) => candidate.session === session && isAlive(candidate));
}
