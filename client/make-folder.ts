/**
 * `mkdir -p`. Node's own with `recursive` never returns where the parent is there and refuses with ENOENT, as in /proc
 * (seen with 24.21: it makes the parent and tries again, for ever).
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** For its owner alone. Throws the system's own error. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Somebody else made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
