/** One call from its dispatch to its stored result; every end has a value (design §5). */
import { condition } from '@temporalio/workflow';
import type { CancelCallInput, CancelCallResult } from '../contract/activity-interfaces.ts';
import type { CallOutcome, ExecuteRequest } from '../contract/calls.ts';
import { isProcessRequest } from '../contract/calls.ts';
import type { Target } from '../contract/target.ts';
import { controlActivities, executeActivity } from './activity-options.ts';
import { moveCall, resolveCall } from './context.ts';
import type { TurnContext } from './context.ts';
import { describeError, isScheduleToStartTimeout } from './errors.ts';
import { Pending } from './interrupt.ts';
import type { Ending } from './interrupt.ts';
import { asInterrupted, canceledBeforeDispatch, canceledRead, inDoubt, stillRunning } from './outcomes.ts';
import type { LostAttemptCode } from './outcomes.ts';
import type { CallRecord } from './turn-state.ts';

/** A settle tries for so many times as long as describeAgent does: somebody is asked, but the turn goes on. */
const SETTLE_FACTOR = 3;

/** A call, the target that its row holds (K5), and what was recorded to be run. */
export interface Dispatch {
  readonly record: CallRecord;
  readonly target: Target;
  readonly request: ExecuteRequest;
}

/** Dispatches the call and stores its result. Throws only when the result can't be stored. */
export async function runCall(context: TurnContext, dispatch: Dispatch): Promise<void> {
  const { record, target } = dispatch;
  moveCall(context, record, { type: 'dispatched', target });
  const execution = new Pending(() => startExecute(context, dispatch));
  await condition(() => execution.ending !== undefined || context.interrupt.isRequested);
  const outcome =
    execution.ending === undefined
      ? await interruptCall(context, { record, target, execution })
      : 'value' in execution.ending
        ? execution.ending.value
        : await settleLost(context, { record, target, error: execution.ending.error });
  await resolveCall(context, record, outcome);
}

/** Ends a call of an interrupted turn that this run did not dispatch. */
export async function cancelUndispatched(context: TurnContext, record: CallRecord): Promise<void> {
  const { target } = record.entry;
  if (isProcessRequest(record.call.request)) return resolveCall(context, record, canceledRead());
  // With a target in its row an earlier run of this turn may have dispatched it (K5): only its agent knows.
  const outcome = target === undefined ? canceledBeforeDispatch() : await interruptCall(context, { record, target });
  await resolveCall(context, record, outcome);
}

/** Ends a call of a closed step by its agent's word: nothing can start it after that (K7). */
export async function settleOpen(context: TurnContext, record: CallRecord): Promise<void> {
  const { target } = record.entry;
  const isRead = isProcessRequest(record.call.request);
  if (target === undefined || isRead || context.interrupt.isRequested) return cancelUndispatched(context, record);
  const error = new Error('its step was closed before it was dispatched');
  await resolveCall(context, record, await settleLost(context, { record, target, error }));
}

function startExecute(context: TurnContext, { record, target, request }: Dispatch): Promise<CallOutcome> {
  const { state, timings } = context;
  const { key, nonce } = record.call;
  const { execute } = executeActivity(record.call, request, timings);
  return execute({ chatId: state.input.chatId, key, nonce, target, request, trustWindowMs: timings.trustWindowMs });
}

/**
 * Kills by key, and lets execute end by itself with the true end (G05). What is still open after the grace is let
 * go; a kill fences what it doesn't find, so its answer is the settle's as well.
 */
async function interruptCall(
  context: TurnContext,
  running: { readonly record: CallRecord; readonly target: Target; readonly execution?: Pending<CallOutcome> },
): Promise<CallOutcome> {
  const { record, target, execution } = running;
  const { interruptGraceMs } = context.timings;
  moveCall(context, record, { type: 'cancel_requested' });
  const kill = askToCancel(context, { record, target, mode: 'kill', tryForMs: interruptGraceMs });
  await condition(
    () => hasValue(execution) || (kill.ending !== undefined && (execution === undefined || isEnded(execution))),
    interruptGraceMs,
  );
  if (hasValue(execution)) return asInterrupted(execution.ending.value);
  execution?.letGo();
  kill.letGo();
  const cause = 'the turn was interrupted, and it had not ended after the grace';
  return readAnswer(
    kill.ending,
    { target, code: 'attempt_ended', codeOfSilence: 'settle_gave_up', cause },
    asInterrupted,
  );
}

/** Execute ended in anything but a value: a fence makes the question safe, its answer is the result (K7). */
async function settleLost(
  context: TurnContext,
  lost: { readonly record: CallRecord; readonly target: Target; readonly error: unknown },
): Promise<CallOutcome> {
  const { record, target, error } = lost;
  const tryForMs = context.timings.describeAgentMs * SETTLE_FACTOR;
  const fence = askToCancel(context, { record, target, mode: 'fence', tryForMs });
  // Our own clock too: the server's time-outs sleep while an activity is paused.
  await condition(() => fence.ending !== undefined, tryForMs);
  fence.letGo();
  const code = isScheduleToStartTimeout(error) ? 'trust_window' : 'attempt_ended';
  return readAnswer(fence.ending, { target, code, codeOfSilence: code, cause: describeError(error) }, (value) => value);
}

interface LostCall {
  readonly target: Target;
  readonly code: LostAttemptCode;
  readonly codeOfSilence: LostAttemptCode | 'settle_gave_up';
  readonly cause: string;
}

function readAnswer(
  answer: Ending<CancelCallResult> | undefined,
  lost: LostCall,
  present: (outcome: CallOutcome) => CallOutcome,
): CallOutcome {
  if (answer === undefined || 'error' in answer) {
    const silence = answer === undefined ? 'no answer in time' : describeError(answer.error);
    return inDoubt(lost.codeOfSilence, {
      target: lost.target,
      cause: `${lost.cause}; its agent did not say: ${silence}`,
    });
  }
  const { outcome } = answer.value;
  return outcome.status === 'running' ? stillRunning(outcome, lost.code, lost.cause) : present(outcome);
}

function askToCancel(
  context: TurnContext,
  asked: { record: CallRecord; target: Target; mode: CancelCallInput['mode']; tryForMs: number },
): Pending<CancelCallResult> {
  const { record, target, mode, tryForMs } = asked;
  const { key, nonce } = record.call;
  // The target's agent, not the chat's: a call stays with the agent it was dispatched to (E12).
  const control = controlActivities(target.agentId, tryForMs, `${mode} ${key}`);
  return new Pending(() => control.cancelCall({ chatId: context.state.input.chatId, key, nonce, target, mode }));
}

function hasValue(pending: Pending<CallOutcome> | undefined): pending is Pending<CallOutcome> & {
  ending: { value: CallOutcome };
} {
  return pending?.ending !== undefined && 'value' in pending.ending;
}

function isEnded(pending: Pending<CallOutcome>): boolean {
  return pending.ending !== undefined;
}
