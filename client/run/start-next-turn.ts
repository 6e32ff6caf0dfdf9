/** Starts the next turn of a chat, under a number that nobody has used. */
import type { Client } from '@temporalio/client';
import { CodedError } from '../../contract/failures.ts';
import type { TurnInput } from '../../contract/turn.ts';
import type { Store } from '../open-store.ts';
import { startTurn } from '../start-turn.ts';

/** A store that is further behind than this needs a person; each number tried is one request. */
const NUMBERS_TRIED_MAX = 50;

export interface NextTurn {
  readonly input: Omit<TurnInput, 'turn'>;
  readonly taskQueue: string;
  readonly userText: string;
}

/**
 * A store that was restored from a backup allots numbers that the server has seen already; those are passed over, and
 * the turn itself says what happened (`store_rolled_back`).
 */
export async function startNextTurn(
  { store, client }: { readonly store: Pick<Store, 'reserveNextTurn'>; readonly client: Client },
  { input, taskQueue, userText }: NextTurn,
): Promise<{ turn: number; workflowId: string }> {
  const { chatId } = input;
  for (let tries = 1; ; tries += 1) {
    const turn = await store.reserveNextTurn(chatId);
    try {
      const { workflowId } = await startTurn(client, { input: { ...input, turn }, taskQueue, userText });
      return { turn, workflowId };
    } catch (error) {
      // By its name: the class may come from another copy of the SDK.
      if (!(error instanceof Error) || error.name !== 'WorkflowExecutionAlreadyStartedError') throw error;
      if (tries < NUMBERS_TRIED_MAX) continue;
      throw new CodedError(
        'store_rolled_back',
        `the server has turns of chat ${chatId} up to ${turn} at least, which the store doesn't know.`,
      );
    }
  }
}
