/** What is alike in every child that a workflow starts: it outlives its parent, and its id may be somebody's already. */
import { ParentClosePolicy } from '@temporalio/workflow';
import { WORKFLOW_TASK_TIMEOUT_MS } from '../contract/limits.ts';

/** The chat, turn or sweep that starts it may be terminated, continued or ended: it goes on. */
export const OUTLIVES_PARENT = {
  parentClosePolicy: ParentClosePolicy.ABANDON,
  workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
} as const;

/** By its name: the class may come from another copy of the SDK. */
export function isStartedAlready(error: unknown): boolean {
  return error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError';
}
