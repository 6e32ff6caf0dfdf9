/**
 * One look for what nobody works on any more: turns that were terminated or lost, or that a restored store still calls
 * running; calls whose settle is gone; chats in which a message waits while nothing runs. A Schedule starts it every
 * minute. Nothing is killed here (C6): a fence makes sure of each open call, and what its agent doesn't say in time a
 * settle goes on asking for (K7).
 */
import { condition, log, TemporalFailure } from '@temporalio/workflow';
import { isProcessRequest } from '../contract/calls.ts';
import type { CallOutcome, CommittedCall } from '../contract/calls.ts';
import { DESCRIBE_AGENT_MS_MAX } from '../contract/limits.ts';
import type { StrayTurn, SweepInput, SweepResult } from '../contract/sweep.ts';
import { recordResultActivity, storeActivities, sweepActivities } from './activity-options.ts';
import { askToCancel, describeSilence, findEnd } from './ask-agent.ts';
import { describeError } from './errors.ts';
import { canceledRead, closedByStore, inDoubt } from './outcomes.ts';
import { sendingOf } from './sending.ts';
import { startNotice } from './start-notice.ts';
import { startSettle } from './start-settle.ts';

const TURNS_SIDE_BY_SIDE_MAX = 8;
const CAUSE = 'the work on its turn was ended from outside';

export async function sweep({ askForMs = DESCRIBE_AGENT_MS_MAX }: SweepInput = {}): Promise<SweepResult> {
  const { turns, calls, chats = [] } = await sweepActivities.findStrays();
  let turnsClosed = 0;
  for (let next = 0; next < turns.length; next += TURNS_SIDE_BY_SIDE_MAX) {
    const group = turns.slice(next, next + TURNS_SIDE_BY_SIDE_MAX);
    const closed = await Promise.all(group.map((turn) => closeTurn(turn, askForMs)));
    turnsClosed += closed.filter((isClosed) => isClosed).length;
  }
  let settlesStarted = 0;
  for (const { chatId, turn, call } of calls) {
    if (call.target === undefined) continue;
    const { key, nonce, target, summary } = call;
    const asked = { chatId, turn, key, nonce, target, summary, ...sendingOf(call) };
    await startSettle({ ...asked, mode: 'kill', cause: 'its settle was lost' });
    settlesStarted += 1;
  }
  // Last: a chat whose turn was just closed goes on, too, by the next look at the latest.
  if (chats.length > 0) await sweepActivities.wakeChats({ chatIds: chats });
  return { turnsClosed, settlesStarted, chatsWoken: chats.length };
}

/** False when it could not be closed; the next sweep tries again. */
async function closeTurn(turn: StrayTurn, askForMs: number): Promise<boolean> {
  try {
    const { openCalls } = await sweepActivities.closeStrayTurn(turn);
    await Promise.all(openCalls.map((call) => endCall(turn, call, askForMs)));
    const error = { code: 'turn_lost', message: CAUSE };
    await startNotice(turn, await storeActivities.endTurn({ ...turn, state: 'failed', error }));
    return true;
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    log.warn('a stray turn could not be closed', { ...turn, reason: describeError(error) });
    return false;
  }
}

async function endCall({ chatId, turn }: StrayTurn, call: CommittedCall, askForMs: number): Promise<void> {
  const { key, nonce, target, summary, request } = call;
  const record = (outcome: CallOutcome) =>
    recordResultActivity(key, outcome).recordResult({ chatId, turn, key, outcome });
  if (isProcessRequest(request)) return void (await record(canceledRead()));
  if (target === undefined) return void (await record(neverDispatched()));
  // An interrupt had asked for its end before the turn was lost.
  const mode = call.status === 'cancel_requested' ? 'kill' : 'fence';
  const sending = sendingOf(call);
  const asked = askToCancel({ chatId, key, nonce, target, mode, ...sending, tryForMs: askForMs });
  await condition(() => asked.ending !== undefined, askForMs);
  asked.letGo();
  const end = findEnd(asked.ending, 'attempt_ended', CAUSE);
  if (end !== undefined) return void (await record(end));
  const cause = `${CAUSE}; its agent did not say: ${describeSilence(asked.ending)}`;
  await startSettle({ chatId, turn, key, nonce, target, summary, mode, cause, ...sending });
  await record(inDoubt('attempt_ended', { target, cause, ...sending }));
}

function neverDispatched(): CallOutcome {
  return { ...closedByStore(), text: '[not run: the work on this turn ended before this command was started]' };
}
