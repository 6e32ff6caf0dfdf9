/** Room in a conversation that is too long for its model: a summary in the place of its older part, once a step. */
import type { CompactionDue, GenerateStepResult } from '../contract/activity-interfaces.ts';
import { FAILURES } from '../contract/failures.ts';
import type { FailureCode } from '../contract/failures.ts';
import { parseMessageId } from '../contract/ids.ts';
import { FAILURE_CHARACTERS_MAX } from '../contract/limits.ts';
import { toSafeText } from '../contract/well-formed.ts';
import { compactConversationActivity } from './activity-options.ts';
import type { TurnContext } from './context.ts';
import { describeError, TurnStopped, turnErrorOf } from './errors.ts';
import { untilInterrupted } from './interrupt.ts';
import type { Ending } from './interrupt.ts';

/** `refused`: the provider takes no more. `due`: it soon won't. */
type Cause = 'refused' | 'due';
type AskForStep = (more: { readonly isCompacted?: boolean }) => Promise<StepEnding | undefined>;
type StepEnding = Ending<GenerateStepResult | CompactionDue>;

const TOO_LONG = 'model_context_too_long';
/** With these the turn can't go on, whatever becomes of its conversation. */
const NOT_THE_MODELS: readonly string[] = [
  'turn_closed',
  'store_rolled_back',
  'invariant_broken',
  'bad_request',
] satisfies FailureCode[];

/**
 * Asks for the step; where there is no room for it, makes room and asks once more, never a third time. Undefined when
 * the turn was interrupted meanwhile.
 */
export async function askWithRoom(
  context: TurnContext,
  ask: AskForStep,
): Promise<Ending<GenerateStepResult> | undefined> {
  const first = await ask({});
  const cause = first === undefined ? undefined : causeOf(first);
  if (cause === undefined) return first as Ending<GenerateStepResult> | undefined;
  const compacted = await compactConversation(context, cause);
  if (compacted === undefined) return undefined;
  if ('error' in compacted) return compacted;
  const { failure } = compacted.value;
  if (cause === 'refused' && failure !== undefined) return { error: tooLong(failure) };
  const second = await ask({ isCompacted: true });
  if (second === undefined || causeOf(second) === undefined) return second as Ending<GenerateStepResult> | undefined;
  const reason = 'error' in second ? describeError(second.error) : 'no room was made';
  return { error: tooLong(failure ?? `also with a summary in the place of its older part, ${reason}`) };
}

function causeOf(ending: StepEnding): Cause | undefined {
  if ('value' in ending) return 'isCompactionDue' in ending.value ? 'due' : undefined;
  return turnErrorOf(ending.error, '').code === TOO_LONG ? 'refused' : undefined;
}

/** A value with `failure` says why there is no summary; an error ends the turn by itself. */
async function compactConversation(
  context: TurnContext,
  cause: Cause,
): Promise<Ending<{ readonly failure?: string }> | undefined> {
  const { state, interrupt, timings } = context;
  const { chatId, turn, model } = state.input;
  const number = (state.compactions ?? 0) + 1;
  // One beyond what the step was offered, which its row may hold by now.
  const messageId = parseMessageId(state.highestMessageId + 2);
  state.compactions = number;
  state.highestMessageId = messageId;
  const ending = await untilInterrupted(interrupt, () =>
    compactConversationActivity(number, timings).compactConversation({
      chatId,
      turn,
      number,
      messageId,
      model,
      isRefused: cause === 'refused',
    }),
  );
  if (ending === undefined) return undefined;
  if ('value' in ending) {
    return { value: ending.value.messageCount > 0 ? {} : { failure: 'nothing of it can be left out' } };
  }
  if (NOT_THE_MODELS.includes(turnErrorOf(ending.error, '').code)) return ending;
  return { value: { failure: `no summary of its older part could be made: ${describeError(ending.error)}` } };
}

function tooLong(reason: string): TurnStopped {
  const text = `the conversation is too long for its model; ${reason}`;
  const { nextStep } = FAILURES[TOO_LONG];
  // The reason may end with the same advice already.
  const message = text.includes(nextStep) ? text : `${text}. ${nextStep}`;
  return new TurnStopped({ code: TOO_LONG, message: toSafeText(message, FAILURE_CHARACTERS_MAX) });
}
