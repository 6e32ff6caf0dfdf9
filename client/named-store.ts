/** Which store a command means: what is named, else that of the pieces that run for the folder, else the folder's own. */
import { existsSync } from 'node:fs';
import { CodedError } from '../contract/failures.ts';
import { showStoreUrl } from '../contract/store-url.ts';
import { openStageFolder } from './dev/stage-folder.ts';
import { findLiveRecord } from './dev/stage-record.ts';

export interface NamedStore {
  readonly url: string;
  /** As people may see it: without a password. */
  readonly shown: string;
  /** False for a file that nobody has made yet. */
  readonly isThere: boolean;
}

export function findNamedStore(workspace: string, env: NodeJS.ProcessEnv): NamedStore {
  const folder = openStageFolder(workspace, env);
  const url = env['LATCHKEY_STORE'] || (findLiveRecord(folder)?.places?.storeUrl ?? folder.store);
  const isThere = url !== folder.store || existsSync(url.slice('sqlite:'.length));
  return { url, shown: showStoreUrl(url), isThere };
}

/** For a command that only reads: throws when there is nothing yet. */
export function requireNamedStore(workspace: string, env: NodeJS.ProcessEnv): NamedStore {
  const named = findNamedStore(workspace, env);
  if (named.isThere) return named;
  throw new CodedError(
    'configuration',
    `nothing was run in ${workspace} yet, and LATCHKEY_STORE names no other store. Start with latchkey run "…".`,
    'store',
  );
}
