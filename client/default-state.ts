/** Where the agent of a workspace keeps its state when nobody says: outside the workspace, one folder a workspace. */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';

export function defaultStateFolder(workspace: string, environment: NodeJS.ProcessEnv): string {
  const path = existsSync(workspace) ? realpathSync(workspace) : resolve(workspace);
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 10);
  const base = environment['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state');
  const name = basename(path).replace(/[^A-Za-z0-9._-]/g, '_') || 'root';
  return join(base, 'latchkey', 'agents', `${name}-${digest}`);
}
