/** Puts keeper.sh into the state folder, named by its content: an upgrade never changes a script that sh still reads. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function installKeeperScript(stateFolder: string): string {
  const source = readFileSync(new URL('./keeper.sh', import.meta.url));
  const digest = createHash('sha256').update(source).digest('hex').slice(0, 12);
  const path = join(stateFolder, `keeper-${digest}.sh`);
  if (!existsSync(path)) {
    writeFileSync(`${path}.new`, source, { mode: 0o700 });
    renameSync(`${path}.new`, path);
  }
  return path;
}
