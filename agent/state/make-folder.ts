/**
 * `mkdir -p`. Node's own with `recursive` never returns where the parent is there and refuses with ENOENT, as in /proc
 * (seen with 24.21: it makes the parent and tries again, for ever).
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { CodedError } from '../../contract/failures.ts';

/** Refuses (`configuration`), naming the folder and why, what can't be made. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    const why = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new CodedError('configuration', `the folder ${path} can't be made (${why}): choose another with --state`);
  }
}
