/**
 * Which pieces are ours to start. What the environment names is used, never started or stopped:
 *
 * | set | then |
 * |---|---|
 * | nothing | all four pieces are ours |
 * | TEMPORAL_ADDRESS | no dev server; the workers are ours |
 * | and LATCHKEY_AGENT_ADDRESS | agent and its execute worker run elsewhere |
 * | and LATCHKEY_STORE | the turn worker runs elsewhere, on LATCHKEY_TURN_QUEUE or the default queue |
 *
 * Without TEMPORAL_ADDRESS the workers are ours in any case: nobody else can know our dev server.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { TURN_TASK_QUEUE_DEFAULT } from '../../contract/names.ts';
import type { StageFolder } from './stage-folder.ts';

export interface StageSettings {
  readonly ownsServer: boolean;
  readonly ownsAgent: boolean;
  readonly ownsExecuteWorker: boolean;
  readonly ownsTurnWorker: boolean;
  readonly agentAddress: string;
  readonly storeUrl: string;
  readonly turnQueue: string;
}

export function readStageSettings(folder: StageFolder, env: NodeJS.ProcessEnv): StageSettings {
  const ownsServer = !env['TEMPORAL_ADDRESS'];
  const ownsTurnWorker = ownsServer || !env['LATCHKEY_STORE'];
  return {
    ownsServer,
    ownsAgent: !env['LATCHKEY_AGENT_ADDRESS'],
    ownsExecuteWorker: ownsServer || !env['LATCHKEY_AGENT_ADDRESS'],
    ownsTurnWorker,
    agentAddress: env['LATCHKEY_AGENT_ADDRESS'] || `unix:${join(folder.agentState, 'agent.sock')}`,
    storeUrl: env['LATCHKEY_STORE'] || folder.store,
    // A store of our own goes with a queue of our own: on a shared server its turn worker must take no one else's turns.
    turnQueue:
      env['LATCHKEY_TURN_QUEUE'] ||
      (ownsTurnWorker ? `${TURN_TASK_QUEUE_DEFAULT}-${folder.id}` : TURN_TASK_QUEUE_DEFAULT),
  };
}

/** Everything is named: `run` is a mere client and starts nothing. */
export function startsNothing(settings: StageSettings): boolean {
  const { ownsServer, ownsAgent, ownsExecuteWorker, ownsTurnWorker } = settings;
  return !ownsServer && !ownsAgent && !ownsExecuteWorker && !ownsTurnWorker;
}

/** Names of variables that a worker takes with it at its start: a later change of theirs doesn't reach it. */
const TAKEN_ALONG = /^(LATCHKEY_|TEMPORAL_|[A-Z0-9_]+_(API_KEY|BASE_URL)$)/;
const NOT_THEIRS = new Set(['LATCHKEY_MODEL']);

/** Tells whether two environments would give the same pieces; says nothing of their secrets. */
export function digestEnvironment(folder: StageFolder, env: NodeJS.ProcessEnv): string {
  const taken = Object.entries(env).filter(([name]) => TAKEN_ALONG.test(name) && !NOT_THEIRS.has(name));
  const text = JSON.stringify(taken.toSorted(([left], [right]) => (left < right ? -1 : 1)));
  return createHash('sha256').update(`${folder.root}\0${text}`).digest('hex').slice(0, 16);
}
