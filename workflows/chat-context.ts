/** What the parts of a chat share while it runs, and what it does to its turns. */
import { condition, log, TemporalFailure } from '@temporalio/workflow';
import type { ChatFacts, ClaimNextTurnInput, StoppableCall, TurnClaim } from '../contract/chat-activities.ts';
import type { ChatInput, ChatWithoutView } from '../contract/chat.ts';
import type { AgentId } from '../contract/ids.ts';
import { chatActivities, fillTimings } from './activity-options.ts';
import { ChatRequests } from './chat-requests.ts';
import type { FiledRequest } from './chat-requests.ts';
import { applyToChat, NEW_CHAT, withWaiting } from './chat-state.ts';
import type { ChatAction, ChatEvent, ChatMachine } from './chat-state.ts';
import { describeError, requestFailure, turnErrorOf } from './errors.ts';
import { FollowedTurn, startTurn } from './follow-turn.ts';
import { stopHiddenCalls } from './stop-hidden-calls.ts';

/** A turn that ends again and again without having taken its message is not started faster than this. */
const AGAIN_MS_MIN = 1000;
const AGAIN_MS_MAX = 60_000;

export interface ChatContext {
  readonly input: ChatInput;
  readonly requests: ChatRequests;
  machine: ChatMachine;
  /** The rows' last word. */
  facts: ChatFacts;
  /** The turn that is under way. */
  followed: FollowedTurn | undefined;
  /** The turn that was claimed and is not under way yet: its message waits no more, so the chat isn't idle. */
  starting: number | undefined;
  readonly heldEdits: FiledRequest<'edit'>[];
  /** The rows may hold something that waits. */
  mustLook: boolean;
  /** The last turn's number was used up on the server before; the next one is so many further on. */
  goneTurn: NonNullable<ClaimNextTurnInput['insteadOf']> | undefined;
  /** The last message that was given to a turn, and how often. */
  given: { readonly clientMessageId: string; readonly times: number } | undefined;
  /** `opening`: its rows have not been looked at yet. */
  phase: 'open' | ChatWithoutView;
  /** The store lost the chat. */
  isGone: boolean;
}

export function newChatContext(input: ChatInput): ChatContext {
  return {
    input,
    requests: new ChatRequests(),
    machine: NEW_CHAT,
    facts: { agentId: '' as AgentId, epoch: 0, isArchived: false, queue: [] },
    followed: undefined,
    starting: undefined,
    heldEdits: [],
    mustLook: true,
    goneTurn: undefined,
    given: undefined,
    phase: 'opening',
    isGone: false,
  };
}

export function takeFacts(context: ChatContext, { agentId, model, epoch, isArchived, queue }: ChatFacts): void {
  context.facts = { agentId, epoch, isArchived, queue, ...(model === undefined ? {} : { model }) };
  context.machine = withWaiting(context.machine, queue.length);
}

/** Moves the chat; throws, in words, what it must refuse. */
export function decide(context: ChatContext, event: ChatEvent): readonly ChatAction[] {
  const step = applyToChat(context.machine, event);
  if (step.kind === 'refuse') throw requestFailure(step.code, step.message);
  if (step.kind === 'defect') {
    log.error('the chat refused a step', { event: event.type, reason: step.message });
    return [];
  }
  context.machine = step.next;
  return step.actions;
}

/** Gives the next waiting message to a turn, and starts or joins that turn; what runs already is joined. */
export async function lookForNext(context: ChatContext): Promise<TurnClaim | undefined> {
  context.mustLook = false;
  const claim = await claimNext(context);
  if (claim === undefined) return undefined;
  const { agentId, model } = context.facts;
  if (claim.isRunning) context.followed = new FollowedTurn(context.input.chatId, claim.turn);
  else if (model === undefined) return undefined;
  else {
    context.starting = claim.turn;
    try {
      await pauseIfAgain(context, claim);
      context.followed = await startTurn(context.input, claim, { agentId, model });
    } finally {
      context.starting = undefined;
    }
  }
  decide(context, { type: 'turn_started', turn: claim.turn });
  return claim;
}

async function claimNext(context: ChatContext): Promise<TurnClaim | undefined> {
  const { goneTurn, input } = context;
  try {
    const { claim, ...facts } = await chatActivities.claimNextTurn({
      chatId: input.chatId,
      ...(goneTurn === undefined ? {} : { insteadOf: goneTurn }),
    });
    takeFacts(context, facts);
    return claim;
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    noteLoss(context, error);
    return undefined;
  }
}

/** A store that went back before the chat was made: whoever asks next starts it anew. */
export function noteLoss(context: ChatContext, error: unknown): void {
  if (turnErrorOf(error, 'invariant_broken').code !== 'unknown_chat') {
    log.error('the store refused a chat its own step', { reason: describeError(error) });
    return;
  }
  context.isGone = true;
  if (error instanceof Error) context.requests.close(error);
}

async function pauseIfAgain(context: ChatContext, { clientMessageId = '' }: TurnClaim): Promise<void> {
  const isAgain = context.given?.clientMessageId === clientMessageId && context.goneTurn === undefined;
  const times = isAgain ? (context.given?.times ?? 0) + 1 : 0;
  context.given = { clientMessageId, times };
  if (times === 0) return;
  await condition(() => !context.requests.isEmpty, Math.min(AGAIN_MS_MIN * 2 ** times, AGAIN_MS_MAX));
}

export async function interruptTurn(context: ChatContext): Promise<void> {
  const { followed, input } = context;
  if (followed === undefined) return;
  await chatActivities.noteInterrupting({ chatId: input.chatId, turn: followed.turn });
  await followed.interrupt();
}

/** The turn that they waited for has ended. */
export async function applyHeldEdits(context: ChatContext): Promise<void> {
  for (const filed of context.heldEdits.splice(0)) {
    try {
      await applyEdit(context, filed);
    } catch (error) {
      if (!(error instanceof TemporalFailure)) throw error;
      // An edit before it has hidden its message.
      filed.refuse(error);
    }
  }
}

/** Answers once the rows have it; what runs of the hidden messages is stopped before the next turn starts. */
export async function applyEdit(context: ChatContext, { request, answer }: FiledRequest<'edit'>): Promise<void> {
  const { chatId } = context.input;
  const { messageId, clientMessageId, text } = request;
  const edited = await chatActivities.editMessage({ chatId, messageId, clientMessageId, text });
  takeFacts(context, edited);
  const { isNew, epoch, hiddenCalls } = edited;
  answer({ isNew, epoch, stopping: hiddenCalls.map(({ key }) => key) });
  await stopHidden(context, hiddenCalls);
}

export async function stopHidden({ input }: ChatContext, calls: readonly StoppableCall[]): Promise<void> {
  const { interruptGraceMs: graceMs, settleForMs } = fillTimings(input.timings);
  await stopHiddenCalls(calls, { chatId: input.chatId, graceMs, settleForMs });
}
