import { getClient } from '@temporalio/activity';

const CLOSED = ['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT'];

/** Nobody works on it: by a describe of its newest run, since visibility may lag. Other failures are thrown. */
export async function isWorkflowGone(workflowId: string): Promise<boolean> {
  try {
    // Of the newest run: one that continued as new is still at work.
    const { status } = await getClient().workflow.getHandle(workflowId).describe();
    return CLOSED.includes(status.name);
  } catch (error) {
    if (error instanceof Error && error.name === 'WorkflowNotFoundError') return true;
    throw error;
  }
}
