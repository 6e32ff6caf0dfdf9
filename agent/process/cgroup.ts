/**
 * One command's cgroup (v2). It is touched only through `withConfirmed`: by an open folder whose inode is the recorded
 * one, so that whatever somebody makes under the same name meanwhile is never meant (A2).
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { findOwnCgroupFolders } from './cgroup-mounts.ts';

/** Valid in the boot in which it was made: the kernel numbers cgroups anew after each. */
export interface CgroupRecord {
  readonly path: string;
  /** Decimal, 64 bits. Not given out twice within a boot. */
  readonly inode: string;
}

/** False when nothing lives in it or below; undefined when it is gone, or another one has its name. */
export function isPopulated(cgroup: CgroupRecord): boolean | undefined {
  return withConfirmed(cgroup, (folder) => /^populated 1$/m.test(readFileSync(join(folder, 'cgroup.events'), 'utf8')));
}

/** Pids in it and below, as our pid namespace numbers them; those it can't see are missing. Empty when it is gone. */
export function listCgroupPids(cgroup: CgroupRecord): number[] {
  return withConfirmed(cgroup, readPids) ?? [];
}

/** Kills everything in it and below in one step of the kernel's: nothing forks its way past. False when it is gone. */
export function killCgroup(cgroup: CgroupRecord): boolean {
  return (
    withConfirmed(cgroup, (folder) => {
      writeFileSync(join(folder, 'cgroup.kill'), '1');
      return true;
    }) ?? false
  );
}

/** Removes it with what the command made below. True when it is not there any more, false while something lives in it. */
export function removeCgroup(cgroup: CgroupRecord): boolean {
  const populated = isPopulated(cgroup);
  if (populated === undefined) return true;
  if (populated) return false;
  withConfirmed(cgroup, (folder) => {
    for (const child of childFolders(folder)) removeBelow(child);
  });
  return removeFolder(cgroup.path);
}

/**
 * How many processes of it the kernel has killed for lack of memory; undefined where the memory controller doesn't
 * count for it, that is, where the system doesn't tell.
 */
export function countOutOfMemoryKills(cgroup: CgroupRecord): number | undefined {
  return withConfirmed(cgroup, (folder) => {
    const match = /^oom_kill (\d+)$/m.exec(readFileSync(join(folder, 'memory.events'), 'utf8'));
    return match === null ? undefined : Number(match[1]);
  });
}

/** Whether this very process is in it: an agent that was restarted from inside a command must not kill itself. */
export function holdsOurselves(cgroup: CgroupRecord): boolean {
  return findOwnCgroupFolders().some((own) => own === cgroup.path || own.startsWith(`${cgroup.path}/`));
}

/** Removes an empty folder of the cgroup tree; false when it is in use. */
export function removeFolder(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENODEV')) return true;
    // In use, or not ours to remove: it stays.
    if (hasCode(error, 'EBUSY', 'ENOTEMPTY', 'EACCES', 'EPERM', 'EROFS')) return false;
    throw error;
  }
}

/** `work` gets a path that names the recorded cgroup and nothing else. Undefined when that is gone, before or during. */
function withConfirmed<Value>(cgroup: CgroupRecord, work: (folder: string) => Value): Value | undefined {
  let fd: number;
  try {
    fd = openSync(cgroup.path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ENODEV', 'EACCES')) return undefined;
    throw error;
  }
  try {
    if (String(fstatSync(fd, { bigint: true }).ino) !== cgroup.inode) return undefined;
    return work(`/proc/self/fd/${fd}`);
  } catch (error) {
    // ENODEV: removed while we looked. ENOENT: the same, or a file that this kernel doesn't have.
    if (hasCode(error, 'ENOENT', 'ENODEV')) return undefined;
    throw error;
  } finally {
    closeSync(fd);
  }
}

function readPids(folder: string): number[] {
  let text = '';
  try {
    text = readFileSync(join(folder, 'cgroup.procs'), 'utf8');
  } catch (error) {
    // EOPNOTSUPP: a threaded part, whose processes its parent lists. The others: it went away.
    if (!hasCode(error, 'EOPNOTSUPP', 'ENOTSUP', 'ENOENT', 'ENODEV')) throw error;
  }
  // 0 stands for a process of a pid namespace that ours doesn't see.
  const own = text.split('\n').map(Number).filter(Boolean);
  return [...own, ...childFolders(folder).flatMap(readPids)];
}

function removeBelow(folder: string): void {
  for (const child of childFolders(folder)) removeBelow(child);
  removeFolder(folder);
}

function childFolders(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(folder, entry.name));
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? '');
}
