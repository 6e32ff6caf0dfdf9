/**
 * Notices that the state folder is a copy (cp -a, tar, rsync, a clone of the disk's files): the journal holds the
 * inode and the birth time of a sentinel file, and a copied file has others. Not the device number, which changes with
 * a reboot or a remount; where there is no birth time the inode alone.
 */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function sentinelPath(stateFolder: string): string {
  return join(stateFolder, 'sentinel');
}

/** Makes the sentinel where there is none, and tells its mark. */
export function readSentinelMark(stateFolder: string): string {
  const path = sentinelPath(stateFolder);
  if (!existsSync(path)) {
    writeFileSync(path, 'Latchkey recognises its state folder by this file. Keep it where it is.\n', { mode: 0o600 });
  }
  const stat = statSync(path, { bigint: true });
  const born = stat.birthtimeNs > 0n ? stat.birthtimeNs : 0n;
  return `${stat.ino}/${born}`;
}
