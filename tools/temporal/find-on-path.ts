import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from './cache-folder.ts';

export async function isExecutableFile(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    // Absent, a folder, or not ours to run: all mean "not this one".
    return false;
  }
}

/** The first executable of that name in PATH. Relative entries are skipped: they would depend on the current folder. */
export async function findOnPath(name: string, env: Environment): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(path.delimiter)) {
    if (!path.isAbsolute(folder)) continue;
    const file = path.join(folder, name);
    if (await isExecutableFile(file)) return file;
  }
  return undefined;
}
