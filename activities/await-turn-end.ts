import { setTimeout as sleep } from 'node:timers/promises';
import { Context, heartbeat } from '@temporalio/activity';
import type { AwaitTurnEndResult, ChatTurnName } from '../contract/chat-activities.ts';
import { turnWorkflowId } from '../contract/names.ts';
import type { Store } from '../store/store.ts';
import { withActivityFailures } from './to-activity-failure.ts';
import { isWorkflowGone } from './workflow-gone.ts';

/** A chat goes on so long after the end of a turn that it didn't start itself. */
const LOOK_MS = 300;

/**
 * The activity that waits for a turn by looking: its chat was lost, reset or moved while the turn ran on, so nobody
 * tells it of the turn's end. A turn that the store calls running while its workflow is closed is left to the sweep.
 */
export function awaitTurnEndWith(store: Store): (input: ChatTurnName) => Promise<AwaitTurnEndResult> {
  return async (input) =>
    withActivityFailures(async () => {
      const { cancellationSignal: signal } = Context.current();
      for (;;) {
        // The workflow first: one that ends between the two looks has written its end by the second.
        const isGone = await isWorkflowGone(turnWorkflowId(input.chatId, input.turn));
        const turn = await store.findTurn(input);
        if (turn !== undefined && turn.state !== 'active') return { state: turn.state };
        if (isGone && turn === undefined) return { state: 'gone' };
        heartbeat();
        await sleep(LOOK_MS, undefined, { signal });
      }
    });
}
