/** Asks the agent about a key and takes a refusal as an answer like any other: its code is the state. */
import { findFailureCode } from '../../contract/failures.ts';
import { waitUntil } from '../fixtures/wait-until.ts';
import type { Lane } from './lane.ts';
import type { MatrixKey } from './matrix-key.ts';

export interface Word {
  /** A key's or a process's state, or the code of a refusal. */
  readonly state: string;
  readonly outcome?: string | undefined;
  readonly code?: number | undefined;
  readonly killedBy?: string | undefined;
  readonly handle?: string | undefined;
  readonly startedAt?: string | undefined;
}

/** How long a key may take until it is decided, on a loaded machine. A hang is a violation. */
const SETTLE_DEADLINE_MS = 60_000;

export async function ask(question: () => Promise<object>): Promise<Word> {
  try {
    const answer = (await question()) as Word & { exit?: { code: number; killedBy?: string } };
    return {
      state: answer.state ?? answer.outcome ?? '',
      outcome: answer.outcome,
      code: answer.exit?.code,
      killedBy: answer.exit?.killedBy,
      handle: answer.handle,
      startedAt: answer.startedAt,
    };
  } catch (error) {
    const code = findFailureCode(error);
    if (code === undefined) throw error;
    return { state: code };
  }
}

export function probe(lane: Lane, key: MatrixKey): Promise<Word> {
  return ask(() => lane.client.probe(key.addressed()));
}

export function start(lane: Lane, key: MatrixKey, more: Parameters<typeof merge>[1] = {}): Promise<Word> {
  return ask(() => lane.client.start(merge(key, more)));
}

function merge(key: MatrixKey, more: Partial<MatrixKey['request']>) {
  return { ...key.request, ...more };
}

/** Until the key is neither pending nor running. */
export async function awaitDecision(lane: Lane, key: MatrixKey): Promise<Word> {
  let word: Word = { state: '' };
  return waitUntil(
    `${key.key} is decided`,
    async () => {
      word = await probe(lane, key);
      return word.state === 'pending' || word.state === 'running' ? undefined : word;
    },
    { deadlineMs: SETTLE_DEADLINE_MS, describe: () => ({ word, who: key.who, where: key.where, log: lane.log }) },
  );
}
