/** One call from its dispatch to its stored result; every end has a value (design §5). */
import { condition, log, TemporalFailure } from '@temporalio/workflow';
import { isProcessRequest, isSendSignalRequest } from '../contract/calls.ts';
import type { CallOutcome, CallRequest, ProcessRequest } from '../contract/calls.ts';
import type { Target } from '../contract/target.ts';
import { allHeard } from './all-heard.ts';
import { executeActivity, signalActivity, storeActivities } from './activity-options.ts';
import { askToCancel, describeSilence, findEnd } from './ask-agent.ts';
import { moveCall, resolveCall } from './context.ts';
import type { TurnContext } from './context.ts';
import { describeError, isScheduleToStartTimeout } from './errors.ts';
import { Pending } from './interrupt.ts';
import { judge } from './operator-verdict.ts';
import { asInterrupted, canceledBeforeDispatch, canceledRead, inDoubt } from './outcomes.ts';
import type { LostAttemptCode } from './outcomes.ts';
import { requireOutcome } from './require-outcome.ts';
import { sendingOf } from './sending.ts';
import type { CallRecord } from './turn-state.ts';

/** A settle within the turn tries for so many times as long as describeAgent does: somebody is asked, but the turn goes on. */
const SETTLE_FACTOR = 3;

/** A call, the target that its row holds (K5), and what was recorded to be run. */
export interface Dispatch {
  readonly record: CallRecord;
  readonly target: Target;
  readonly request: Exclude<CallRequest, ProcessRequest>;
}

interface RunningCall {
  readonly record: CallRecord;
  readonly target: Target;
  readonly execution?: Pending<CallOutcome>;
}

/** Dispatches the call and stores its result. Throws only when the result can't be stored. */
export async function runCall(context: TurnContext, dispatch: Dispatch): Promise<void> {
  const { record, target } = dispatch;
  const { interrupt, operator } = context;
  const { key } = record.call;
  moveCall(context, record, { type: 'dispatched', target });
  const execution = new Pending(() => startActivity(context, dispatch));
  const running = { record, target, execution };
  for (;;) {
    await condition(() => execution.ending !== undefined || interrupt.isRequested || operator.has(key));
    await allHeard();
    // Evidence first: a request may have been handled before a completion that is earlier in history.
    if (execution.ending !== undefined) break;
    if (interrupt.isRequested) return interruptCall(context, running);
    if (await resolveByOperator(context, running)) return;
  }
  const { ending } = execution;
  if ('error' in ending) {
    const code = isScheduleToStartTimeout(ending.error) ? 'trust_window' : 'attempt_ended';
    return settleLost(context, { record, target, code, cause: describeError(ending.error) });
  }
  const { value } = ending;
  const isWithoutWord = value.status === 'unknown' && value.evidence.code === 'trust_window';
  if (!isWithoutWord) return resolveCall(context, record, value);
  return settleLost(context, { record, target, code: 'trust_window', cause: value.evidence.detail, known: value });
}

/** Ends a call of an interrupted turn that this run did not dispatch. */
export async function cancelUndispatched(context: TurnContext, record: CallRecord): Promise<void> {
  const { target } = record.entry;
  if (isProcessRequest(record.call.request)) return resolveCall(context, record, canceledRead());
  if (target === undefined) return resolveCall(context, record, canceledBeforeDispatch());
  // With a target in its row an earlier run of this turn may have dispatched it (K5): only its agent knows.
  return interruptCall(context, { record, target });
}

/** Ends a call of a closed step by its agent's word: nothing can start it after that (K7). */
export async function settleOpen(context: TurnContext, record: CallRecord): Promise<void> {
  const { target } = record.entry;
  const isRead = isProcessRequest(record.call.request);
  if (target === undefined || isRead || context.interrupt.isRequested) return cancelUndispatched(context, record);
  return settleLost(context, { record, target, code: 'attempt_ended', cause: 'its step was closed before it ended' });
}

async function startActivity(context: TurnContext, { record, target, request }: Dispatch): Promise<CallOutcome> {
  const { state, timings } = context;
  const { key, nonce } = record.call;
  if (isSendSignalRequest(request)) {
    const { signalProcess } = signalActivity(record.call, timings);
    return requireOutcome(await signalProcess({ chatId: state.input.chatId, key, nonce, target, request }));
  }
  const { execute } = executeActivity(record.call, request, timings);
  const { trustWindowMs } = timings;
  return requireOutcome(await execute({ chatId: state.input.chatId, key, nonce, target, request, trustWindowMs }));
}

/**
 * Kills by key, and lets execute end by itself with the true end (G05). What is still open after the grace is let
 * go; a kill fences what it doesn't find, so its answer is the settle's as well. A background command is spared (G04):
 * a fence stops it only where it has not begun.
 */
async function interruptCall(context: TurnContext, { record, target, execution }: RunningCall): Promise<void> {
  const { interruptGraceMs: tryForMs } = context.timings;
  const { request } = record.call;
  const isBackground = request !== undefined && 'background' in request && request.background;
  moveCall(context, record, { type: 'cancel_requested' });
  const asked = question(context, record, target);
  const kill = askToCancel({ ...asked, mode: isBackground ? 'fence' : 'kill', tryForMs });
  const isNoted = noteCancelRequest(context, record);
  await condition(() => {
    const hasEnded = execution === undefined || execution.ending !== undefined;
    return hasValue(execution) || (kill.ending !== undefined && hasEnded);
  }, tryForMs);
  // Whoever is still asked is let go, so that a finished turn shows no activity that is pending for ever.
  kill.letGo();
  await isNoted;
  if (hasValue(execution)) return resolveCall(context, record, asInterrupted(execution.ending.value));
  execution?.letGo();
  const cause = 'the turn was interrupted, and it had not ended after the grace';
  const end = findEnd(kill.ending, isBackground ? 'background' : 'attempt_ended', cause);
  if (end !== undefined) return resolveCall(context, record, asInterrupted(end));
  const silence = `${cause}; its agent did not say: ${describeSilence(kill.ending)}`;
  const mode = isBackground ? 'fence' : 'kill';
  const code = isBackground ? 'attempt_ended' : 'agent_silent';
  const doubt = inDoubt(code, { target, cause: silence, ...sendingOf(record.call) });
  return resolveCall(context, record, doubt, { settle: { mode, target } });
}

/** Kept in the row, so that a run after a workflow reset doesn't dispatch it again (C3). */
async function noteCancelRequest({ state }: TurnContext, { call }: CallRecord): Promise<void> {
  try {
    await storeActivities.recordCancelRequests({ chatId: state.input.chatId, keys: [call.key] });
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    // Its end is asked for all the same; whether the store can keep it shows with the result.
    log.warn('a cancel request was not stored', { key: call.key, reason: describeError(error) });
  }
}

interface LostCall {
  readonly record: CallRecord;
  readonly target: Target;
  readonly code: LostAttemptCode;
  readonly cause: string;
  /** What execute itself said, if it did. */
  readonly known?: CallOutcome;
}

/**
 * The agent's word is missing: a fence makes the question safe, its answer is the result. Without one the call is
 * unknown, and a settle goes on asking (K7).
 */
async function settleLost(context: TurnContext, { record, target, code, cause, known }: LostCall): Promise<void> {
  const tryForMs = context.timings.describeAgentMs * SETTLE_FACTOR;
  const fence = askToCancel({ ...question(context, record, target), mode: 'fence', tryForMs });
  // Our own clock too: the server's time-outs sleep while an activity is paused.
  await condition(() => fence.ending !== undefined, tryForMs);
  fence.letGo();
  const end = findEnd(fence.ending, code, cause);
  if (end !== undefined) return resolveCall(context, record, context.interrupt.isRequested ? asInterrupted(end) : end);
  const silence = `${cause}; its agent did not say: ${describeSilence(fence.ending)}`;
  const outcome = known ?? inDoubt(code, { target, cause: silence, ...sendingOf(record.call) });
  return resolveCall(context, record, outcome, { settle: { mode: 'fence', target } });
}

/** True when the call was ended by it; else the request was refused, or evidence came in between. */
async function resolveByOperator(
  context: TurnContext,
  { record, target, execution }: RunningCall & { readonly execution: Pending<CallOutcome> },
): Promise<boolean> {
  const { interrupt, operator, timings } = context;
  const { key } = record.call;
  const request = operator.find(key);
  if (request === undefined) return false;
  const tryForMs = timings.describeAgentMs;
  const fence = askToCancel({ ...question(context, record, target), mode: 'fence', tryForMs });
  const isOvertaken = () => execution.ending !== undefined || interrupt.isRequested;
  await condition(() => fence.ending !== undefined || isOvertaken(), tryForMs);
  fence.letGo();
  if (isOvertaken()) return false;
  const verdict = judge(request, fence.ending, target);
  if (verdict.kind === 'refused') {
    operator.refuse(key, verdict.code, verdict.message);
    return false;
  }
  const { outcome, isOperatorsWord, message, needsSettle } = verdict;
  execution.letGo();
  await resolveCall(context, record, outcome, {
    ...(needsSettle ? { settle: { mode: 'fence', target } as const } : {}),
    answer: ({ status, evidence }) => ({ isOperatorsWord, status, evidence, message }),
  });
  return true;
}

function question({ state }: TurnContext, { call }: CallRecord, target: Target) {
  return { chatId: state.input.chatId, key: call.key, nonce: call.nonce, target, ...sendingOf(call) };
}

function hasValue(pending: Pending<CallOutcome> | undefined): pending is Pending<CallOutcome> & {
  ending: { value: CallOutcome };
} {
  return pending?.ending !== undefined && 'value' in pending.ending;
}
