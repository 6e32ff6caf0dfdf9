import { Context, getClient, heartbeat } from '@temporalio/activity';
import type { ChatInput } from '../contract/chat.ts';
import type { ChatId } from '../contract/ids.ts';
import { WORKFLOW_TASK_TIMEOUT_MS } from '../contract/limits.ts';
import { CHAT_LOOK_SIGNAL, CHAT_WORKFLOW_TYPE, chatWorkflowId } from '../contract/names.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** The activity that has chats look at their rows; one that is busy looks anyway, one that is gone is started. */
export function wakeChats({ chatIds }: { readonly chatIds: readonly ChatId[] }): Promise<void> {
  return withActivityFailures(async () => {
    const { taskQueue } = Context.current().info;
    for (const chatId of chatIds) {
      const input: ChatInput = { chatId };
      await getClient().workflow.signalWithStart(CHAT_WORKFLOW_TYPE, {
        workflowId: chatWorkflowId(chatId),
        taskQueue,
        args: [input],
        signal: CHAT_LOOK_SIGNAL,
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      });
      heartbeat();
    }
  });
}
