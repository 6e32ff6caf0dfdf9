/** Where the stage of a workspace keeps what must persist: one folder a workspace, outside of it. */
import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { CodedError } from '../../contract/failures.ts';
import { defaultStateFolder, stateHome } from '../default-state.ts';
import { makeFolder } from '../make-folder.ts';

export interface StageFolder {
  readonly workspace: string;
  readonly root: string;
  /** Which supervisor runs and what it has started. */
  readonly record: string;
  /** What the pieces and the supervisor said. */
  readonly log: string;
  readonly lock: string;
  readonly users: string;
  /** The chat that `run` started last here. */
  readonly latest: string;
  readonly temporalDatabase: string;
  readonly store: string;
  /** The same folder that `latchkey agent` and `latchkey exec` use for this workspace. */
  readonly agentState: string;
  /** Short and one a stage: the turn queue's name on a server that others use too. */
  readonly id: string;
}

/** Throws `configuration` when the workspace isn't a folder, or the state folder can't be made. */
export function openStageFolder(workspace: string, env: NodeJS.ProcessEnv): StageFolder {
  const path = resolve(workspace);
  if (!(statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)) {
    throw new CodedError(
      'configuration',
      `the workspace ${path} is not a folder. Name one by --workspace.`,
      'workspace',
    );
  }
  const real = realpathSync(path);
  const id = createHash('sha256').update(real).digest('hex').slice(0, 10);
  const name = basename(real).replace(/[^A-Za-z0-9._-]/g, '_') || 'root';
  const root = join(stateHome(env), 'latchkey', 'stages', `${name}-${id}`);
  const folder = {
    workspace: real,
    root,
    record: join(root, 'stage.json'),
    log: join(root, 'stage.log'),
    lock: join(root, 'lock.db'),
    users: join(root, 'users'),
    latest: join(root, 'latest.json'),
    temporalDatabase: join(root, 'temporal.db'),
    store: `sqlite:${join(root, 'store.db')}`,
    agentState: defaultStateFolder(real, env),
    id,
  };
  try {
    makeFolder(folder.users);
  } catch (error) {
    const reason = (error as Error).message;
    throw new CodedError(
      'configuration',
      `the state folder can't be made: ${reason}. Set XDG_STATE_HOME to another place.`,
    );
  }
  return folder;
}
