import { log, ParentClosePolicy, startChild, WorkflowIdReusePolicy } from '@temporalio/workflow';
import type { EndTurnResult } from '../contract/activity-interfaces.ts';
import { NOTICE_WORKFLOW_TYPE, noticeWorkflowId, SEARCH_ATTRIBUTES } from '../contract/names.ts';
import type { NoticeInput } from '../contract/notice.ts';

const WORKFLOW_TASK_TIMEOUT = '3s';

/**
 * Starts the notice of a turn's end where one is wanted; it outlives whoever starts it, and nobody waits for it. There
 * is one a turn, also after a reset of the turn. `ended`: undefined in histories that are older than notices.
 */
export async function startNotice(input: NoticeInput, ended: EndTurnResult | undefined): Promise<void> {
  if (ended?.isNoticeWanted !== true) return;
  const { chatId, turn } = input;
  try {
    await startChild(NOTICE_WORKFLOW_TYPE, {
      workflowId: noticeWorkflowId(chatId, turn),
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      staticSummary: `notice of the end of turn ${turn}`,
      typedSearchAttributes: [{ key: { name: SEARCH_ATTRIBUTES.chatId, type: 'KEYWORD' }, value: chatId }],
    });
  } catch (error) {
    // By its name: the class may come from another copy of the SDK.
    if (!(error instanceof Error) || error.name !== 'WorkflowExecutionAlreadyStartedError') throw error;
    log.info('the end of this turn is told already', { turn });
  }
}
