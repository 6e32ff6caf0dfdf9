/** Whether a workflow still runs, for the supervisor, which otherwise needs nothing of Temporal. */
import type { Client } from '@temporalio/client';
import { connectTemporal } from '../connect-temporal.ts';
import type { StagePlaces } from './stage-record.ts';

const ANSWER_MS_MAX = 2000;

export interface OpenCheck {
  isOpen(workflowId: string): Promise<boolean>;
  close(): Promise<void>;
}

export function createOpenCheck(places: () => StagePlaces): OpenCheck {
  let client: Client | undefined;
  return {
    async isOpen(workflowId) {
      try {
        client ??= await connectTemporal(places());
        const { connection, workflow } = client;
        const look = () => workflow.getHandle(workflowId).describe();
        const { status } = await connection.withDeadline(Date.now() + ANSWER_MS_MAX, look);
        return status.name === 'RUNNING' || status.name === 'PAUSED';
      } catch (error) {
        // A server that doesn't answer says nothing: the turn counts as open until it does.
        return !(error instanceof Error && error.name === 'WorkflowNotFoundError');
      }
    },
    close: async () => client?.connection.close(),
  };
}
