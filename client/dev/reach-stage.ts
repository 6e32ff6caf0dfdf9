/** Everything that a command needs to work with turns: places, store, Temporal client; and how to leave them. */
import type { Client } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import { connectTemporal } from '../connect-temporal.ts';
import { openStore } from '../open-store.ts';
import type { Store } from '../open-store.ts';
import { openCheckBy } from './open-check.ts';
import type { IsOpen } from './open-check.ts';
import { ensureStage } from './ensure-stage.ts';
import type { StageFolder } from './stage-folder.ts';
import { findLiveRecord } from './stage-record.ts';
import type { StagePlaces } from './stage-record.ts';
import { digestEnvironment, readStageSettings, startsNothing } from './stage-settings.ts';
import { beginUse, isUsed } from './stage-users.ts';
import type { StageUse } from './stage-users.ts';

const LOOK_MS = 50;
/** All pieces with their forced shutdowns; it is only waited for, nothing depends on it. */
const END_MS_MAX = 40_000;
/** From what the store tells of a turn's end to the end of its workflow: a task of it, and one of its chat. */
const LAG_MS_MAX = 5000;

export interface ReachedStage {
  readonly places: StagePlaces;
  readonly client: Client;
  readonly store: Store;
  readonly use: StageUse;
  /** Lets go. With `awaitsEnd` it waits until the pieces have ended, if nobody else uses them. */
  leave(options: LeaveOptions): Promise<void>;
}

export interface LeaveOptions {
  readonly awaitsEnd: boolean;
  /**
   * The turn, or the chat, whose end was told. The store tells it a moment before the workflow has ended, and a use of
   * somebody who left earlier may follow that workflow.
   */
  readonly told?: string;
}

export interface ReachOptions {
  readonly folder: StageFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Starts the pieces when they don't run and aren't configured. After a throw nothing of ours is left in use. */
export async function reachStage(options: ReachOptions): Promise<ReachedStage> {
  const { folder, signal } = options;
  const use = beginUse(folder);
  let store: Store | undefined;
  try {
    const places = await findPlaces(options);
    store = await openStore(places.storeUrl);
    const client = await connectTemporal(places);
    const opened = store;
    const leave = async ({ awaitsEnd, told }: LeaveOptions): Promise<void> => {
      await opened.close();
      const isOpen = openCheckBy(client);
      if (awaitsEnd && told !== undefined) await awaitWorkflowEnd(told, isOpen);
      use.end();
      if (awaitsEnd) await awaitStageEnd(folder, isOpen);
      await client.connection.close();
    };
    signal.throwIfAborted();
    return { places, client, store, use, leave };
  } catch (error) {
    await store?.close();
    use.end();
    throw error;
  }
}

/** What the environment names; else the stage's. */
export function configuredPlaces(folder: StageFolder, env: NodeJS.ProcessEnv): StagePlaces | undefined {
  const settings = readStageSettings(folder, env);
  const temporalAddress = env['TEMPORAL_ADDRESS'];
  if (!startsNothing(settings) || temporalAddress === undefined) return undefined;
  const { agentAddress, storeUrl, turnQueue } = settings;
  return {
    temporalAddress,
    temporalNamespace: env['TEMPORAL_NAMESPACE'] || 'default',
    agentAddress,
    storeUrl,
    turnQueue,
  };
}

async function findPlaces({ folder, env, signal, say }: ReachOptions): Promise<StagePlaces> {
  const configured = configuredPlaces(folder, env);
  if (configured !== undefined) return configured;
  const isThere = findLiveRecord(folder) !== undefined;
  const record = await ensureStage({ folder, env, signal, endsWhenUnused: true, onProgress: say });
  if (isThere && record.environmentDigest !== digestEnvironment(folder, env)) {
    say('the pieces that run were started with other variables (keys, addresses): "latchkey dev stop", then again');
  }
  if (record.places === undefined) throw new Error('a stage that is ready says where its pieces are');
  return record.places;
}

async function awaitWorkflowEnd(workflowId: string, isOpen: IsOpen): Promise<void> {
  const deadlineMs = performance.now() + LAG_MS_MAX;
  while (performance.now() < deadlineMs && (await isOpen(workflowId))) await delay(LOOK_MS);
}

async function awaitStageEnd(folder: StageFolder, isOpen: IsOpen): Promise<void> {
  const deadlineMs = performance.now() + END_MS_MAX;
  while (performance.now() < deadlineMs) {
    const live = findLiveRecord(folder);
    if (live === undefined || !live.endsWhenUnused) return;
    // While it ends the server may be gone: then nobody can be asked, nor needs to be.
    if (live.state === 'ready' && (await isUsed(folder, isOpen))) return;
    await delay(LOOK_MS);
  }
}
