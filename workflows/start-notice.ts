import { log, startChild, WorkflowIdReusePolicy } from '@temporalio/workflow';
import type { EndTurnResult } from '../contract/activity-interfaces.ts';
import { NOTICE_WORKFLOW_TYPE, noticeWorkflowId, searchAttribute } from '../contract/names.ts';
import type { NoticeInput } from '../contract/notice.ts';
import { isStartedAlready, OUTLIVES_PARENT } from './start-child.ts';

/**
 * Starts the notice of a turn's end where one is wanted; it outlives whoever starts it, and nobody waits for it. There
 * is one a turn, also after a reset of the turn. `ended`: undefined in histories that are older than notices.
 */
export async function startNotice(input: NoticeInput, ended: EndTurnResult | undefined): Promise<void> {
  if (ended?.isNoticeWanted !== true) return;
  const { chatId, turn } = input;
  try {
    await startChild(NOTICE_WORKFLOW_TYPE, {
      ...OUTLIVES_PARENT,
      workflowId: noticeWorkflowId(chatId, turn),
      args: [input],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      staticSummary: `notice of the end of turn ${turn}`,
      typedSearchAttributes: [searchAttribute('chatId', chatId)],
    });
  } catch (error) {
    if (!isStartedAlready(error)) throw error;
    log.info('the end of this turn is told already', { turn });
  }
}
