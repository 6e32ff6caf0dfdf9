import { expect, test } from 'vitest';
import { ownCgroupFolders } from '../../../agent/process/cgroup-mounts.ts';

const V2 = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate';
const HYBRID = `31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw`;
const PART = '30 23 0:26 /system.slice/job /sys/fs/cgroup rw - cgroup2 cgroup2 rw';

const CASES: [title: string, mountinfo: string, membership: string, folders: string[]][] = [
  ['at the root of v2', V2, '0::/\n', ['/sys/fs/cgroup']],
  ['in a service', V2, '0::/system.slice/a.service\n', ['/sys/fs/cgroup/system.slice/a.service']],
  ['in a hybrid layout, at the v2 mount', HYBRID, '4:memory:/deep\n0::/\n', ['/sys/fs/cgroup/unified']],
  ['nowhere with v1 alone', HYBRID.split('\n').slice(0, 2).join('\n'), '4:memory:/deep\n', []],
  ['nowhere without mounts', '', '0::/\n', []],
  ['below a mount of a part', PART, '0::/system.slice/job/a\n', ['/sys/fs/cgroup/a']],
  ['at a mount of a part', PART, '0::/system.slice/job\n', ['/sys/fs/cgroup']],
  ['nowhere when the mount shows another part', PART, '0::/system.slice/jobs\n', []],
  ['nowhere when it is outside of our cgroup namespace', V2, '0::/../other\n', []],
  ['at a mount with a blank in its name', V2.replace('/sys/fs/cgroup', '/a\\040b'), '0::/c\n', ['/a b/c']],
  [
    'at each of two mounts',
    `${V2}\n${V2.replace('/sys/fs/cgroup', '/mnt')}`,
    '0::/c\n',
    ['/sys/fs/cgroup/c', '/mnt/c'],
  ],
];

test.each(CASES)('our cgroup is found %s', (_title, mountinfo, membership, folders) => {
  expect(ownCgroupFolders(mountinfo, membership)).toEqual(folders);
});
