import { heartbeat } from '@temporalio/activity';
import type { FindStraysResult } from '../contract/activity-interfaces.ts';
import { settleWorkflowId, turnWorkflowId } from '../contract/names.ts';
import type { Store } from '../store/store.ts';
import { withActivityFailures } from './to-activity-failure.ts';
import { isWorkflowGone } from './workflow-gone.ts';

/**
 * The activity that finds what nobody works on any more. Visibility may lag, so each is confirmed by a describe of its
 * own workflow; an answer other than "closed" or "not found" fails the look, and the next sweep looks again.
 */
export function findStraysWith(store: Store): () => Promise<FindStraysResult> {
  return async () =>
    withActivityFailures(async () => {
      const { turns, calls, chats = [] } = await store.listUnfinished();
      const isStrayTurn = await whereGone(turns, ({ chatId, turn }) => turnWorkflowId(chatId, turn));
      const isStrayCall = await whereGone(calls, ({ chatId, call }) => settleWorkflowId(chatId, call.key));
      return { turns: isStrayTurn, calls: isStrayCall, chats };
    });
}

async function whereGone<Item>(items: readonly Item[], workflowIdOf: (item: Item) => string): Promise<Item[]> {
  const gone: Item[] = [];
  for (const item of items) {
    if (await isWorkflowGone(workflowIdOf(item))) gone.push(item);
    heartbeat();
  }
  return gone;
}
