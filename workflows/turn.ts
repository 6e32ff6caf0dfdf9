/**
 * One turn: from a user's message to the end of the work on it.
 *
 * | message | kind | what it does |
 * |---|---|---|
 * | `calls` | query | the calls and what is known of each |
 * | `interrupt` | update | files the request: kills what runs, by key, and starts nothing more |
 * | `resolveCall` | update | files a person's word about a call; answered when the call has its end |
 * | cancel of the workflow | request | the same as `interrupt` |
 *
 * The main loop runs in a shield: a cancel is a request that it reads, and reaches no activity by itself (C6).
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  defineQuery,
  defineUpdate,
  makeContinueAsNewFunc,
  setHandler,
  TemporalFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { CALLS_QUERY, INTERRUPT_UPDATE, RESOLVE_CALL_UPDATE, searchAttribute } from '../contract/names.ts';
import type { InterruptAnswer, InterruptRequest, ResolveCallAnswer, ResolveCallRequest } from '../contract/operator.ts';
import type { CallView, TurnEnd, TurnInput, TurnResult } from '../contract/turn.ts';
import { storeActivities, turnActivities } from './activity-options.ts';
import { newTurnContext, showCalls } from './context.ts';
import type { TurnContext } from './context.ts';
import { carriedState, shouldContinue } from './continue-turn.ts';
import { defectFailure, TurnStopped, turnErrorOf } from './errors.ts';
import type { TurnError } from './errors.ts';
import { freshTarget } from './fresh-target.ts';
import { requireInterruptRequest, untilRecorded } from './interrupt.ts';
import { evidenceWon, requireResolveCallRequest } from './operator-requests.ts';
import { requireResolvable } from './resolvable-call.ts';
import { runStep } from './run-step.ts';
import { startNotice } from './start-notice.ts';
import { callViews, newTurnState } from './turn-state.ts';
import type { TurnState } from './turn-state.ts';

const callsQuery = defineQuery<CallView[]>(CALLS_QUERY);
const interruptUpdate = defineUpdate<InterruptAnswer, [InterruptRequest?]>(INTERRUPT_UPDATE);
const resolveCallUpdate = defineUpdate<ResolveCallAnswer, [ResolveCallRequest]>(RESOLVE_CALL_UPDATE);

interface TurnEnding {
  readonly state: TurnEnd;
  readonly error?: TurnError;
}

/** Ends with a value whatever becomes of the turn; fails only when an invariant broke. `carried`: from an earlier run. */
export async function turn(input: TurnInput, carried?: TurnState): Promise<TurnResult> {
  const context = newTurnContext(carried ?? newTurnState(input));
  setHandlers(context);
  context.interrupt.follow(CancellationScope.current());
  return CancellationScope.nonCancellable(() => runTurn(context, carried !== undefined));
}

/** Handlers only file requests: what becomes of one is decided where the evidence is looked at. */
function setHandlers(context: TurnContext): void {
  const { interrupt, operator, state } = context;
  setHandler(callsQuery, () => callViews(state), { description: 'The calls of this turn' });
  const interruptTurn = async (): Promise<InterruptAnswer> => {
    await untilRecorded();
    return { isNew: interrupt.file() };
  };
  setHandler(interruptUpdate, interruptTurn, {
    validator: requireInterruptRequest,
    description: 'Interrupts the turn: kills what runs in the foreground, starts nothing more. Argument: {"who": "…"}',
  });
  setHandler(
    resolveCallUpdate,
    async (request) => {
      const held = requireResolvable(state, request.key);
      return held === undefined ? operator.file(request) : evidenceWon(held);
    },
    {
      validator: (request) => {
        requireResolveCallRequest(request);
        requireResolvable(state, request.key);
      },
      description:
        "Ends a stuck call by a person's word, where its agent's can't be had. Argument: " +
        '{"key": "2-call_1", "as": "exit" (with "exitCode": 0) | "not_run" | "unknown", "who": "…", "why": "…"}',
    },
  );
}

async function runTurn(context: TurnContext, isContinued: boolean): Promise<TurnResult> {
  const { chatId, agentId } = context.state.input;
  showCalls(context);
  // One event in history each time, so only at the turn's two ends.
  if (!isContinued) {
    const whose = [searchAttribute('chatId', chatId), searchAttribute('agentId', agentId)];
    upsertSearchAttributes([...whose, searchAttribute('turnState', 'running')]);
  }
  const ending = await endingOf(() => runSteps(context, isContinued));
  // A turn that another run has ended is only read (T1).
  if (ending.error?.code !== 'turn_closed') await endTurn(context, ending);
  upsertSearchAttributes([searchAttribute('turnState', ending.state)]);
  await condition(allHandlersFinished);
  if (ending.error?.code === 'invariant_broken') throw defectFailure(ending.error);
  const { steps, calls, earlierCalls, lastMessageId } = context.state;
  const callCount = earlierCalls + calls.length;
  return { ...ending, steps, calls: callCount, ...(lastMessageId === undefined ? {} : { lastMessageId }) };
}

async function runSteps(context: TurnContext, isContinued: boolean): Promise<TurnEnding> {
  if (!isContinued) await takeTurn(context);
  while (!context.interrupt.isRequested) {
    const end = await runStep(context);
    if (end === 'final') return { state: 'completed' };
    await continueAsNewWhenDue(context);
  }
  return { state: 'interrupted' };
}

/** Between two steps nothing is open: no activity, no call, no handler that waits. */
async function continueAsNewWhenDue({ state, interrupt }: TurnContext): Promise<void> {
  const { historyLength: events, historySize: bytes, continueAsNewSuggested: isMoveSuggested } = workflowInfo();
  if (!shouldContinue({ events, bytes, isMoveSuggested, eventsMax: state.input.historyEventsMax })) return;
  await condition(allHandlersFinished);
  // An interrupt would be forgotten by the new run.
  if (interrupt.isRequested) return;
  await makeContinueAsNewFunc<typeof turn>()(state.input, carriedState(state));
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
  const { highestMessageId } = state;
  try {
    const ended = await storeActivities.endTurn({ chatId, turn: number, ...ending, highestMessageId });
    await startNotice({ chatId, turn: number }, ended);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    // A store that went back in time may not know the chat any more: the turn's own end says what happened (I02).
    if (ending.error?.code !== 'store_rolled_back') throw defectFailure(turnErrorOf(error, 'invariant_broken'));
  }
}
