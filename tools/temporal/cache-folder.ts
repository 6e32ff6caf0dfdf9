import { homedir } from 'node:os';
import path from 'node:path';

/** The variables a resolver reads: `process.env`, or what a test puts in its place. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where downloaded and built servers (`temporal`) and bundled workflows are kept: outside the checkout, so that a fresh
 * clone finds the servers again.
 */
export function cacheFolder(env: Environment, kind: 'temporal' | 'workflows'): string {
  const base = env['LATCHKEY_CACHE_DIR'] || env['XDG_CACHE_HOME'] || path.join(env['HOME'] || homedir(), '.cache');
  return path.join(path.resolve(base), 'latchkey', kind);
}
