/** Removes the cgroups of an agent that was killed and won't come back to do it itself. */
import { readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { findOwnCgroupFolders } from '../../agent/process/cgroup-mounts.ts';

/** A killed process leaves its cgroup when it has been reaped, which nobody tells us. */
const TRIES_MAX = 50;
const TRY_AGAIN_MS = 20;

/** Synchronous, as all that Ctrl-C does. What can't be removed in a second stays, empty. */
export function removeCgroupsOf(agentId: string): void {
  for (const own of findOwnCgroupFolders()) {
    const base = join(own, `latchkey-${agentId}`);
    for (let attempt = 0; attempt < TRIES_MAX && !isRemoved(base); attempt++) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TRY_AGAIN_MS);
    }
  }
}

function isRemoved(base: string): boolean {
  try {
    for (const entry of readdirSync(base, { withFileTypes: true })) {
      if (entry.isDirectory()) rmdirSync(join(base, entry.name));
    }
    rmdirSync(base);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EBUSY';
  }
}
