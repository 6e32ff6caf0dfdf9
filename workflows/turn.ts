/**
 * One turn: from a user's message to the end of the work on it.
 *
 * | message | kind | what it does |
 * |---|---|---|
 * | `calls` | query | the calls and what is known of each |
 * | cancel of the workflow | request | interrupts the turn: kills what runs, by key, and starts nothing more |
 *
 * The main loop runs in a shield: a cancel is a request that it reads, and reaches no activity by itself (C6).
 */
import {
  CancellationScope,
  defineQuery,
  setHandler,
  TemporalFailure,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { CALLS_QUERY, SEARCH_ATTRIBUTES } from '../contract/names.ts';
import type { CallView, TurnEnd, TurnInput, TurnResult } from '../contract/turn.ts';
import { storeActivities, turnActivities } from './activity-options.ts';
import { newTurnContext, showCalls } from './context.ts';
import type { TurnContext } from './context.ts';
import { defectFailure, TurnStopped, turnErrorOf } from './errors.ts';
import type { TurnError } from './errors.ts';
import { freshTarget } from './fresh-target.ts';
import { runStep } from './run-step.ts';
import { callViews } from './turn-state.ts';

const callsQuery = defineQuery<CallView[]>(CALLS_QUERY);

interface TurnEnding {
  readonly state: TurnEnd;
  readonly error?: TurnError;
}

/** Ends with a value whatever becomes of the turn; fails only when an invariant broke. */
export async function turn(input: TurnInput): Promise<TurnResult> {
  const context = newTurnContext(input);
  setHandler(callsQuery, () => callViews(context.state), { description: 'The calls of this turn' });
  context.interrupt.follow(CancellationScope.current());
  return CancellationScope.nonCancellable(() => runTurn(context));
}

async function runTurn(context: TurnContext): Promise<TurnResult> {
  const { chatId, agentId } = context.state.input;
  showCalls(context);
  showSearchAttributes({ chatId, agentId, turnState: 'running' });
  const ending = await endingOf(() => runSteps(context));
  // A turn that another run has ended is only read (T1).
  if (ending.error?.code !== 'turn_closed') await endTurn(context, ending);
  showSearchAttributes({ turnState: ending.state });
  if (ending.error?.code === 'invariant_broken') throw defectFailure(ending.error);
  const { steps, calls, lastMessageId } = context.state;
  return { ...ending, steps, calls: calls.length, ...(lastMessageId === undefined ? {} : { lastMessageId }) };
}

async function runSteps(context: TurnContext): Promise<TurnEnding> {
  await takeTurn(context);
  while (!context.interrupt.isRequested) {
    const end = await runStep(context);
    if (end === 'final') return { state: 'completed' };
  }
  return { state: 'interrupted' };
}

/** Takes the turn, with what the agent knows of the chat's ids; an agent that is away costs the turn nothing yet. */
async function takeTurn(context: TurnContext): Promise<void> {
  const { chatId, turn: number, agentId } = context.state.input;
  const answer = await freshTarget(context, agentId);
  const agentHighestMessageId = 'target' in answer ? answer.target.chatHighestMessageId : undefined;
  const { highestMessageId } = await turnActivities.takeTurn({
    chatId,
    turn: number,
    agentId,
    ...(agentHighestMessageId === undefined ? {} : { agentHighestMessageId }),
  });
  context.state.highestMessageId = highestMessageId;
}

/** Failures of activities (a local one's comes bare) end the turn; a fault in our own code fails the workflow task, to be retried when mended. */
async function endingOf(work: () => Promise<TurnEnding>): Promise<TurnEnding> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TurnStopped) && !(error instanceof TemporalFailure)) throw error;
    return { state: 'failed', error: turnErrorOf(error, 'invariant_broken') };
  }
}

async function endTurn({ state }: TurnContext, ending: TurnEnding): Promise<void> {
  const { chatId, turn: number } = state.input;
  try {
    await storeActivities.endTurn({ chatId, turn: number, ...ending });
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    throw defectFailure(turnErrorOf(error, 'invariant_broken'));
  }
}

/** One event in history each time, so only at the turn's two ends. */
function showSearchAttributes(values: Partial<Record<keyof typeof SEARCH_ATTRIBUTES, string>>): void {
  upsertSearchAttributes(
    Object.entries(values).map(([name, value]) => ({
      key: { name: SEARCH_ATTRIBUTES[name as keyof typeof SEARCH_ATTRIBUTES], type: 'KEYWORD' as const },
      value,
    })),
  );
}
