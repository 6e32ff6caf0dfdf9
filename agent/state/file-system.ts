/** The state folder must be on a local file system: locks, O_EXCL, FIFOs and inode marks are not to be trusted else. */
import { statfsSync } from 'node:fs';
import { CodedError } from '../../contract/failures.ts';

/** Magic numbers of statfs(2). */
const NETWORK_FILE_SYSTEMS = new Map<number, string>([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x517b, 'SMB'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x73757245, 'Coda'],
  [0x0bd00bd0, 'Lustre'],
]);

export function requireLocalFileSystem(folder: string): void {
  const kind = NETWORK_FILE_SYSTEMS.get(statfsSync(folder).type);
  if (kind === undefined) return;
  throw new CodedError(
    'configuration',
    `the state folder ${folder} is on ${kind}, and must be on a local file system: choose another with --state`,
  );
}
