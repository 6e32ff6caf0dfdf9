/**
 * Tells others that a turn has ended, by a webhook, at least once: tried for a day, with one id. Nobody waits for it.
 *
 * | message | kind | what it does |
 * |---|---|---|
 * | cancel of the workflow | request | gives up |
 */
import { setCurrentDetails, TemporalFailure } from '@temporalio/workflow';
import type { NoticeInput, NoticeResult } from '../contract/notice.ts';
import { noticeActivities } from './activity-options.ts';
import { describeError } from './errors.ts';

/** Ends with a value: that a receiver refuses is nothing that this workflow could mend. */
export async function notice(input: NoticeInput): Promise<NoticeResult> {
  try {
    const { status } = await noticeActivities.deliverNotice(input);
    setCurrentDetails(`delivered: the receiver answered ${status}`);
    return { state: 'delivered', status };
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    const reason = describeError(error);
    setCurrentDetails(`given up: ${reason}`);
    return { state: 'given_up', reason };
  }
}
