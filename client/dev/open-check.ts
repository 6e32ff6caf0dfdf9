/** Whether a workflow still runs: all that the stage needs to know of a turn. */
import type { Client } from '@temporalio/client';
import { connectTemporal } from '../connect-temporal.ts';
import type { StagePlaces } from './stage-record.ts';

const ANSWER_MS_MAX = 2000;

export type IsOpen = (workflowId: string) => Promise<boolean>;

export function openCheckBy(client: Client): IsOpen {
  return async (workflowId) => {
    try {
      const look = () => client.workflow.getHandle(workflowId).describe();
      const { status } = await client.connection.withDeadline(Date.now() + ANSWER_MS_MAX, look);
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
