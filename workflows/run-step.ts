/** One step: a model call and the calls it asks for (design §6). */
import { log, TemporalFailure, uuid4 } from '@temporalio/workflow';
import type { GenerateStepResult } from '../contract/activity-interfaces.ts';
import type { CommittedCall } from '../contract/calls.ts';
import { parseMessageId } from '../contract/ids.ts';
import type { MessageId } from '../contract/ids.ts';
import { generateStepActivity, turnActivities } from './activity-options.ts';
import { askWithRoom } from './compact-conversation.ts';
import { moveCall, showCalls } from './context.ts';
import type { TurnContext } from './context.ts';
import { dispatchCalls } from './dispatch-calls.ts';
import { describeError, TurnStopped, turnErrorOf } from './errors.ts';
import { ageMs } from './fresh-target.ts';
import { untilInterrupted } from './interrupt.ts';
import { openEntry } from './ledger.ts';
import { closedByStore } from './outcomes.ts';
import { settleOpen } from './run-call.ts';
import { isOpen } from './turn-state.ts';
import type { CallRecord, TurnState } from './turn-state.ts';

export type StepEnd = 'final' | 'goes_on' | 'interrupted';

/**
 * Runs the step to its end, also when the turn is interrupted. Throws `TurnStopped` when the turn can't go on; every
 * call of the step has its result before that, unless the turn is no longer ours.
 */
export async function runStep(context: TurnContext): Promise<StepEnd> {
  const step = context.state.steps + 1;
  const generated = await generateStep(context, step);
  if (generated === undefined) {
    await closeStep(context, step);
    return 'interrupted';
  }
  try {
    await dispatchCalls(context, addCalls(context, step, generated.calls));
  } catch (error) {
    await closeStepAfter(context, step, error);
    throw error;
  }
  if (context.interrupt.isRequested && !generated.isFinal) return 'interrupted';
  return generated.isFinal ? 'final' : 'goes_on';
}

/** The committed step; undefined when the turn was interrupted first. */
async function generateStep(context: TurnContext, step: number): Promise<GenerateStepResult | undefined> {
  const { state, interrupt, timings } = context;
  const { chatId, turn, agentId, model, showCommands = true } = state.input;
  const ending = await askWithRoom(context, async (more) => {
    const { lastTarget } = state;
    const target = lastTarget === undefined ? {} : { target: lastTarget.target, targetAgeMs: ageMs(lastTarget) };
    const messageId = parseMessageId(state.highestMessageId + 1);
    const stepNonce = uuid4();
    const asked = { chatId, turn, step, messageId, stepNonce, agentId, model, showCommands, ...target, ...more };
    return untilInterrupted(interrupt, () => generateStepActivity(step, timings).generateStep(asked));
  });
  if (ending === undefined) return undefined;
  if ('error' in ending) {
    const error = turnErrorOf(ending.error, 'model_unavailable');
    // Another run ended this turn: what it stored stands, and nothing here may touch it (T1).
    const stopped = new TurnStopped(error);
    if (error.code !== 'turn_closed') await closeStepAfter(context, step, stopped);
    throw stopped;
  }
  noteCommit(state, step, ending.value.messageId);
  return ending.value;
}

function addCalls(context: TurnContext, step: number, calls: readonly CommittedCall[]): CallRecord[] {
  const records = calls
    .toSorted((a, b) => a.position - b.position)
    .map((call) => ({ step, call, entry: openEntry(call) }));
  context.state.calls.push(...records);
  showCalls(context);
  return records;
}

/** A store that went back in time may not even be able to close the step: why the turn stops must not get lost with it (I02). */
async function closeStepAfter(context: TurnContext, step: number, error: unknown): Promise<void> {
  if (turnErrorOf(error, 'invariant_broken').code !== 'store_rolled_back') return closeStep(context, step);
  try {
    await closeStep(context, step);
  } catch (failure) {
    if (!(failure instanceof TemporalFailure)) throw failure;
    log.warn('a step could not be closed in a store that went back in time', { step, reason: describeError(failure) });
  }
}

/** Closes the step against late commits, then gives each call that still has none its result (C1). */
async function closeStep(context: TurnContext, step: number): Promise<void> {
  const { state } = context;
  const { chatId, turn } = state.input;
  const keepsText = context.interrupt.isRequested;
  const { messageId, openCalls } = await turnActivities.closeStep({ chatId, turn, step, keepsText });
  // Committed, although perhaps no attempt of generateStep brought the value back.
  if (messageId !== undefined) noteCommit(state, step, messageId);
  const keys = new Set(openCalls.map((call) => call.key));
  for (const record of state.calls.filter((each) => each.step === step && isOpen(each) && !keys.has(each.call.key))) {
    moveCall(context, record, { type: 'resolved', ...closedByStore() });
  }
  await Promise.all(openCalls.map((call) => settleOpen(context, findOrAddCall(context, step, call))));
}

function noteCommit(state: TurnState, step: number, messageId: MessageId): void {
  state.steps = step;
  state.lastMessageId = messageId;
  state.highestMessageId = Math.max(state.highestMessageId, messageId);
}

function findOrAddCall(context: TurnContext, step: number, call: CommittedCall): CallRecord {
  const known = context.state.calls.find((record) => record.call.key === call.key);
  if (known !== undefined) return known;
  const [added] = addCalls(context, step, [call]);
  if (added === undefined) throw new Error('addCalls adds one record a call');
  return added;
}
