import { log, startChild } from '@temporalio/workflow';
import { searchAttribute, SETTLE_WORKFLOW_TYPE, settleWorkflowId } from '../contract/names.ts';
import type { SettleInput } from '../contract/settle.ts';
import { SUMMARY_CHARACTERS_MAX } from '../contract/limits.ts';
import { toSafeText } from '../contract/well-formed.ts';
import { isStartedAlready, OUTLIVES_PARENT } from './start-child.ts';

/**
 * Starts the settle of a call, or joins the one that is under way: there is one a key. It outlives whoever starts it.
 * Resolves when it has been started, so that a continue-as-new or an end right after can't lose it.
 */
export async function startSettle(input: SettleInput): Promise<void> {
  const { chatId, key, summary, target } = input;
  try {
    await startChild(SETTLE_WORKFLOW_TYPE, {
      ...OUTLIVES_PARENT,
      workflowId: settleWorkflowId(chatId, key),
      args: [input],
      staticSummary: toSafeText(`settle ${summary}`, SUMMARY_CHARACTERS_MAX),
      typedSearchAttributes: [searchAttribute('chatId', chatId), searchAttribute('agentId', target.agentId)],
    });
  } catch (error) {
    if (!isStartedAlready(error)) throw error;
    log.info('a settle of this call is under way already', { key });
  }
}
