/** Whether a workflow still has work: all that the stage needs to know of a turn, or of a chat. */
import type { Client } from '@temporalio/client';
import type { ChatView } from '../../contract/chat.ts';
import { CHAT_QUERY, chatWorkflowId } from '../../contract/names.ts';
import type { ChatId } from '../../contract/ids.ts';
import { connectTemporal } from '../connect-temporal.ts';
import type { StagePlaces } from './stage-record.ts';

const ANSWER_MS_MAX = 2000;

const CHAT_PREFIX = chatWorkflowId('' as ChatId);

export type IsOpen = (workflowId: string) => Promise<boolean>;

export function openCheckBy(client: Client): IsOpen {
  return async (workflowId) => {
    try {
      const handle = client.workflow.getHandle(workflowId);
      const deadline = Date.now() + ANSWER_MS_MAX;
      if (workflowId.startsWith(CHAT_PREFIX)) {
        // A chat runs for ever; it has work while a turn runs or a message waits.
        const view = await client.connection.withDeadline(deadline, () => handle.query<ChatView>(CHAT_QUERY));
        return view.state === 'running' || view.state === 'interrupting' || view.queue.length > 0;
      }
      const { status } = await client.connection.withDeadline(deadline, () => handle.describe());
      return status.name === 'RUNNING' || status.name === 'PAUSED';
    } catch (error) {
      // A server that doesn't answer says nothing: the turn counts as open until it does.
      return !(error instanceof Error && error.name === 'WorkflowNotFoundError');
    }
  };
}

/** Connects at the first question, since most supervisors are never asked one. */
export function createOpenCheck(places: () => StagePlaces): { readonly isOpen: IsOpen; close(): Promise<void> } {
  let client: Client | undefined;
  return {
    async isOpen(workflowId) {
      try {
        client ??= await connectTemporal(places());
      } catch {
        // The server may be starting again: as above.
        return true;
      }
      return openCheckBy(client)(workflowId);
    },
    close: async () => client?.connection.close(),
  };
}
