/** Starting a turn: the options that every starter must give alike. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { WorkflowIdReusePolicy } from '@temporalio/common';
import { TURN_WORKFLOW_TYPE, turnWorkflowId } from '../contract/names.ts';
import type { TurnInput, TurnResult } from '../contract/turn.ts';
import { firstLine } from '../contract/well-formed.ts';

/** What a turn waits for after the death of its worker within a task; the default is 10 s (temporal-live.md A9). */
const WORKFLOW_TASK_TIMEOUT = '3s';
const SUMMARY_CHARACTERS_MAX = 100;

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
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    staticSummary: firstLine(options.userText, SUMMARY_CHARACTERS_MAX),
  });
}
