/** Where the agent of a workspace keeps its state when nobody says: outside the workspace, one folder a workspace. */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, isAbsolute, join, resolve } from 'node:path';

const NAME_CHARACTERS_MAX = 20;

export function defaultStateFolder(workspace: string, environment: NodeJS.ProcessEnv): string {
  const path = existsSync(workspace) ? realpathSync(workspace) : resolve(workspace);
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 10);
  // Cut, since the agent's socket is in there, and the path of a socket has at most 107 bytes.
  const name =
    basename(path)
      .replace(/[^A-Za-z0-9._-]/g, '_')
      .slice(0, NAME_CHARACTERS_MAX) || 'root';
  return join(stateHome(environment), 'latchkey', 'agents', `${name}-${digest}`);
}

export function stateHome(environment: NodeJS.ProcessEnv): string {
  // Empty or relative counts as unset (XDG base directory specification).
  const configured = environment['XDG_STATE_HOME'] ?? '';
  return isAbsolute(configured) ? configured : join(homedir(), '.local', 'state');
}
