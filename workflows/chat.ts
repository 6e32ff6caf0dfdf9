/**
 * The entity of a conversation: takes messages, and answers them one turn at a time (T1, T2).
 *
 * | message | kind | what it does |
 * |---|---|---|
 * | `send` | update | puts a message into the queue; with mode `interrupt` in front, and stops the turn that runs |
 * | `edit` | update | hides a message and what follows, stops what runs of it, answers the new text |
 * | `deleteQueued`, `promoteQueued` | update | takes a waiting message back, or puts it in front |
 * | `interrupt` | update | stops the turn that runs; the queue stays |
 * | `cancelCall` | update | kills the command of one call; the turn goes on with that result |
 * | `bind` | update | another agent or model, from the next turn on |
 * | `archive` | update | closes the chat for messages, or opens it again; closed, the workflow completes |
 * | `chat` | query | state, binding, queue |
 * | `look` | signal | something waits in the rows that it wasn't told of |
 * | cancel of the workflow | request | `interrupt` |
 *
 * Handlers only file requests; the main loop attends to one at a time, and looks at the turn's end first. Queue,
 * binding, epoch and turn numbers are rows, so a chat that was terminated, reset or lost goes on from them: a turn that
 * still runs is joined, and the queue goes on after it.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  log,
  makeContinueAsNewFunc,
  patched,
  setHandler,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { ChatInput, ChatView, ChatWithoutView } from '../contract/chat.ts';
import { CHAT_LOOK_SIGNAL, CHAT_QUERY, CHAT_UPDATES } from '../contract/names.ts';
import { allHeard } from './all-heard.ts';
import { attend } from './attend-chat.ts';
import { applyHeldEdits, decide, lookForNext, newChatContext, stopHidden, takeFacts } from './chat-context.ts';
import type { ChatContext } from './chat-context.ts';
import type { AnswerOf, ChatUpdate, RequestOf } from './chat-requests.ts';
import * as checks from './check-chat-request.ts';
import { shouldMoveChat } from './continue-chat.ts';
import { chatActivities } from './activity-options.ts';

const chatQuery = defineQuery<ChatView | ChatWithoutView>(CHAT_QUERY);
const lookSignal = defineSignal(CHAT_LOOK_SIGNAL);

export async function chat(input: ChatInput): Promise<void> {
  const context = newChatContext(input);
  setHandlers(context);
  // A cancel stops what runs; the chat itself stays for what waits.
  CancellationScope.current().cancelRequested.catch(() => {
    context.requests.file('interrupt', {}).catch(() => undefined);
  });
  return CancellationScope.nonCancellable(() => runChat(context));
}

function setHandlers(context: ChatContext): void {
  setHandler(chatQuery, () => viewOf(context), { description: 'State, binding and queue of the chat' });
  setHandler(lookSignal, () => void (context.mustLook = true), {
    description: 'Looks in the store for messages that wait',
  });
  accept(context, 'send', checks.checkSend, 'Sends a message: {"clientMessageId": "…", "text": "…", "mode": "queue"}');
  accept(context, 'edit', checks.checkEdit, 'Edits a message: {"messageId": 1, "clientMessageId": "…", "text": "…"}');
  accept(context, 'deleteQueued', checks.checkQueued, 'Takes a waiting message back: {"clientMessageId": "…"}');
  accept(context, 'promoteQueued', checks.checkQueued, 'Puts a waiting message in front: {"clientMessageId": "…"}');
  accept(context, 'interrupt', checks.checkInterrupt, 'Stops the turn that runs: {"who": "…"}');
  accept(context, 'cancelCall', checks.checkCancelCall, 'Stops one command: {"key": "2-call_1", "who": "…"}');
  accept(context, 'bind', checks.checkBind, 'From the next turn on: {"agentId": "…", "model": "…"}');
  accept(context, 'archive', checks.checkArchive, 'Closes the chat, or opens it again: {"isArchived": true}');
}

function accept<Update extends ChatUpdate>(
  { requests }: ChatContext,
  update: Update,
  validator: (request: RequestOf<Update>) => void,
  description: string,
): void {
  const definition = defineUpdate<AnswerOf<Update>, [RequestOf<Update>]>(CHAT_UPDATES[update]);
  setHandler(definition, (request) => requests.file(update, request ?? {}), { validator, description });
}

async function runChat(context: ChatContext): Promise<void> {
  if (!(await openChat(context))) return;
  for (;;) {
    if (context.mustLook && context.machine.state === 'idle') await lookForNext(context);
    context.phase = 'open';
    await condition(() => hasWork(context));
    if (patched('all-is-heard-first')) await allHeard();
    // Evidence first: a handler runs before a completion that is earlier in history (A6 of the notes).
    if (context.followed?.ending !== undefined) await endTurn(context);
    else await attendNext(context);
    if (context.isGone || isDone(context)) return closeChat(context);
    if (isDue(context)) await makeContinueAsNewFunc<typeof chat>()({ ...context.input, isContinued: true });
  }
}

/** False when there is no such chat: everybody who asks is told so, and the workflow has nothing to stay for. */
async function openChat(context: ChatContext): Promise<boolean> {
  const { chatId, create, isContinued } = context.input;
  try {
    const opened = await chatActivities.openChat({ chatId, ...(create === undefined ? {} : { create }) });
    takeFacts(context, opened);
    context.machine = { ...context.machine, state: opened.isArchived ? 'archived' : 'idle' };
    if (isContinued !== true) await stopHidden(context, opened.hiddenCalls);
    return true;
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    context.phase = 'unknown';
    context.requests.close(error);
    await condition(allHandlersFinished);
    return false;
  }
}

function hasWork(context: ChatContext): boolean {
  const { followed, requests, mustLook, machine } = context;
  if (followed?.ending !== undefined || !requests.isEmpty) return true;
  return (mustLook && machine.state === 'idle') || isDone(context) || isDue(context);
}

async function attendNext(context: ChatContext): Promise<void> {
  const request = context.requests.next();
  if (request !== undefined) await attend(context, request);
}

async function endTurn(context: ChatContext): Promise<void> {
  const { followed } = context;
  if (followed?.ending === undefined) return;
  context.followed = undefined;
  const { state: end } = followed.ending;
  context.goneTurn = end === 'gone' ? { turn: followed.turn, skip: 2 * (context.goneTurn?.skip ?? 0.5) } : undefined;
  const actions = decide(context, { type: 'turn_ended', end });
  if (actions.includes('apply_held_edits')) await applyHeldEdits(context);
  context.mustLook = true;
}

/** An archived chat that nobody asks anything of. */
function isDone({ machine, requests }: ChatContext): boolean {
  return machine.state === 'archived' && requests.isEmpty && allHandlersFinished();
}

/** Nothing is in hand, and the history or the updates of this run are many. */
function isDue({ input, machine, requests, mustLook }: ChatContext): boolean {
  const { historyLength: events, continueAsNewSuggested: isMoveSuggested } = workflowInfo();
  const isAtBorder = machine.state === 'idle' && !mustLook;
  const size = { events, isMoveSuggested, updates: requests.count, updatesMax: input.updatesMax, isAtBorder };
  return shouldMoveChat(size) && requests.isEmpty && allHandlersFinished();
}

async function closeChat(context: ChatContext): Promise<void> {
  if (context.isGone) log.warn('the store does not know this chat any more', { chatId: context.input.chatId });
  await condition(allHandlersFinished);
}

function viewOf({ machine, facts, phase, starting }: ChatContext): ChatView | ChatWithoutView {
  if (phase !== 'open') return phase;
  const turn = machine.turn ?? starting;
  return {
    state: starting === undefined ? machine.state : 'running',
    agentId: facts.agentId,
    model: facts.model ?? '',
    epoch: facts.epoch,
    queue: facts.queue,
    ...(turn === undefined ? {} : { turn }),
  };
}
