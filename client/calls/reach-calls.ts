/** What is there to look at, without starting anything: the stage's places, or the configured ones. */
import { existsSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import { CodedError } from '../../contract/failures.ts';
import { connectTemporal } from '../connect-temporal.ts';
import { configuredPlaces } from '../dev/reach-stage.ts';
import type { StageFolder } from '../dev/stage-folder.ts';
import { findLiveRecord } from '../dev/stage-record.ts';
import { readStageSettings } from '../dev/stage-settings.ts';
import { openStore } from '../open-store.ts';
import type { Store } from '../open-store.ts';

export interface ReachedCalls {
  readonly store: Store;
  readonly client?: Client;
  readonly agentAddress: string;
  /** Why there is no client, and what to do about it. */
  readonly absence?: CodedError;
  close(): Promise<void>;
}

export async function reachCalls(folder: StageFolder, env: NodeJS.ProcessEnv): Promise<ReachedCalls> {
  const places = configuredPlaces(folder, env) ?? findLiveRecord(folder)?.places;
  const settings = readStageSettings(folder, env);
  const storeUrl = places?.storeUrl ?? settings.storeUrl;
  if (storeUrl === folder.store && !existsSync(storeUrl.slice('sqlite:'.length))) {
    throw new CodedError(
      'configuration',
      `nothing was run in ${folder.workspace} yet, and TEMPORAL_ADDRESS, LATCHKEY_STORE and LATCHKEY_AGENT_ADDRESS name nothing else. Start with latchkey run "…".`,
    );
  }
  const store = await openStore(storeUrl);
  const agentAddress = places?.agentAddress ?? settings.agentAddress;
  if (places === undefined) {
    const why = 'no Temporal server runs for this folder: start it by "latchkey dev", or set TEMPORAL_ADDRESS to one.';
    const absence = new CodedError('temporal_unreachable', why, 'TEMPORAL_ADDRESS');
    return { store, agentAddress, absence, close: () => store.close() };
  }
  try {
    const client = await connectTemporal(places);
    const close = async (): Promise<void> => {
      await client.connection.close();
      await store.close();
    };
    return { store, client, agentAddress, close };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return { store, agentAddress, absence: error, close: () => store.close() };
  }
}

/** For what can't be done by the store alone. */
export function requireClient({ client, absence }: ReachedCalls): Client {
  if (client === undefined) throw absence ?? new CodedError('temporal_unreachable', 'no Temporal server answers.');
  return client;
}
