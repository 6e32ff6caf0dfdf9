/**
 * Stops what still runs of messages that an edit has hidden, by key at the agent it was dispatched to (C6: on purpose).
 * Bounded in time: what its agent doesn't say by then, a settle goes on asking for.
 */
import { condition, log, TemporalFailure } from '@temporalio/workflow';
import type { StoppableCall } from '../contract/chat-activities.ts';
import type { ChatId } from '../contract/ids.ts';
import { storeActivities } from './activity-options.ts';
import { askToCancel, describeSilence, findEnd } from './ask-agent.ts';
import { describeError } from './errors.ts';
import { asInterrupted } from './outcomes.ts';
import { startSettle } from './start-settle.ts';

const SIDE_BY_SIDE_MAX = 8;
const CAUSE = 'an edit has hidden the message that asked for it';

export interface StopOptions {
  readonly chatId: ChatId;
  readonly graceMs: number;
  readonly settleForMs: number;
}

export async function stopHiddenCalls(calls: readonly StoppableCall[], options: StopOptions): Promise<void> {
  for (let next = 0; next < calls.length; next += SIDE_BY_SIDE_MAX) {
    const group = calls.slice(next, next + SIDE_BY_SIDE_MAX);
    await Promise.all(group.map((call) => stopCall(call, options)));
  }
}

async function stopCall(call: StoppableCall, { chatId, graceMs, settleForMs }: StopOptions): Promise<void> {
  const { turn, key, nonce, target, summary } = call;
  const asked = askToCancel({ chatId, key, nonce, target, mode: 'kill', tryForMs: graceMs });
  await condition(() => asked.ending !== undefined, graceMs);
  asked.letGo();
  const end = findEnd(asked.ending, 'attempt_ended', CAUSE);
  if (end === undefined || end.status === 'detached') {
    const cause = end === undefined ? `${CAUSE}; its agent did not say: ${describeSilence(asked.ending)}` : CAUSE;
    await startSettle({ chatId, turn, key, nonce, target, summary, mode: 'kill', cause, settleForMs });
    return;
  }
  try {
    await storeActivities.recordTruth({ chatId, turn, key, outcome: asInterrupted(end) });
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    log.warn('the end of a hidden call could not be stored', { key, reason: describeError(error) });
  }
}
