/** Starting a turn: the options that every starter must give alike. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { WorkflowIdReusePolicy } from '@temporalio/common';
import { TURN_SUMMARY_CHARACTERS_MAX, WORKFLOW_TASK_TIMEOUT_MS } from '../contract/limits.ts';
import { TURN_WORKFLOW_TYPE, turnWorkflowId } from '../contract/names.ts';
import type { TurnInput, TurnResult } from '../contract/turn.ts';
import { firstLine } from '../contract/well-formed.ts';

export type TurnHandle = WorkflowHandle<(input: TurnInput) => Promise<TurnResult>>;

/**
 * Starts the workflow of a turn whose user message is already queued in the store. Turn numbers are used once: a
 * second start of the same number is refused by Temporal (`WorkflowExecutionAlreadyStartedError`).
 */
export function startTurn(
  client: Client,
  options: { readonly input: TurnInput; readonly taskQueue: string; readonly userText: string },
): Promise<TurnHandle> {
  const { input, taskQueue } = options;
  return client.workflow.start<(input: TurnInput) => Promise<TurnResult>>(TURN_WORKFLOW_TYPE, {
    workflowId: turnWorkflowId(input.chatId, input.turn),
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    taskQueue,
    args: [input],
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
    staticSummary: firstLine(options.userText, TURN_SUMMARY_CHARACTERS_MAX),
  });
}
