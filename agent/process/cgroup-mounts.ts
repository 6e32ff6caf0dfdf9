/** Where cgroup v2 is mounted and which cgroup we are in, also in hybrid layouts, where v1 holds the controllers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Positions in a line of mountinfo, see proc_pid_mountinfo(5). */
const ROOT = 3;
const MOUNT_POINT = 4;

/** The folders of the cgroup that this process is in now, one per mount; none where there is no cgroup v2. */
export function findOwnCgroupFolders(): string[] {
  try {
    return ownCgroupFolders(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8'));
  } catch (error) {
    // A kernel without cgroups has no such file; then there is none to be in.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Pure part: `mountinfo` and `membership` are the texts of the two files. */
export function ownCgroupFolders(mountinfo: string, membership: string): string[] {
  // The line of the one hierarchy that v2 has; the others are of v1.
  const ownPath = /^0::(\/.*)$/m.exec(membership)?.[1];
  // A path through ".." lies outside of what our cgroup namespace shows.
  if (ownPath === undefined || ownPath.split('/').includes('..')) return [];
  return mountinfo.split('\n').flatMap((line) => {
    const [place = '', source = ''] = line.split(' - ');
    if (source.split(' ')[0] !== 'cgroup2') return [];
    const fields = place.split(' ');
    const root = unescapeMount(fields[ROOT] ?? '/');
    const below = root === '/' ? ownPath : ownPath === root ? '/' : cutPrefix(ownPath, `${root}/`);
    // A mount that shows another part of the tree has no folder for us.
    return below === undefined ? [] : [join(unescapeMount(fields[MOUNT_POINT] ?? ''), below).replace(/\/$/, '')];
  });
}

function cutPrefix(path: string, prefix: string): string | undefined {
  return path.startsWith(prefix) ? path.slice(prefix.length - 1) : undefined;
}

/** Blanks and the like are octal there. */
function unescapeMount(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
