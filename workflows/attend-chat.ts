/** One request at a time: decided by the state machine, done in the rows, answered. Nothing that it refuses has changed anything. */
import { TemporalFailure } from '@temporalio/workflow';
import { chatActivities } from './activity-options.ts';
import { cancelCall } from './cancel-call.ts';
import { applyEdit, decide, interruptTurn, lookForNext, noteLoss, takeFacts } from './chat-context.ts';
import type { ChatContext } from './chat-context.ts';
import type { AnyRequest, FiledRequest } from './chat-requests.ts';
import { requestFailure, turnErrorOf } from './errors.ts';

export async function attend(context: ChatContext, filed: AnyRequest): Promise<void> {
  const before = context.machine;
  try {
    await attendTo(context, filed);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    // The rows refused what the machine had allowed.
    if (filed.update === 'archive') context.machine = before;
    filed.refuse(error);
    if (turnErrorOf(error, 'invariant_broken').code === 'unknown_chat') noteLoss(context, error);
  }
}

function attendTo(context: ChatContext, filed: AnyRequest): Promise<void> {
  switch (filed.update) {
    case 'send':
      return send(context, filed);
    case 'edit':
      return edit(context, filed);
    case 'deleteQueued':
    case 'promoteQueued':
      return changeQueue(context, filed);
    case 'interrupt':
      return interrupt(context, filed);
    case 'cancelCall':
      // Not awaited: a tree of processes has a grace, and whatever else is asked meanwhile must not wait for it.
      void cancelCall(context, filed);
      return Promise.resolve();
    case 'bind':
      return bind(context, filed);
    case 'archive':
      return archive(context, filed);
  }
}

async function send(context: ChatContext, { request, answer }: FiledRequest<'send'>): Promise<void> {
  const { chatId } = context.input;
  const { clientMessageId, text, mode = 'queue' } = request;
  const [place] = decide(context, { type: 'send', mode });
  requireModel(context);
  const enqueued = await chatActivities.enqueueMessage({
    chatId,
    clientMessageId,
    text,
    place: place === 'enqueue_front' ? 'front' : 'back',
  });
  takeFacts(context, enqueued);
  const isWaiting = enqueued.turn === undefined;
  const actions = decide(context, { type: 'sent', mode, isWaiting });
  if (actions.includes('interrupt_turn')) await interruptTurn(context);
  const claim = actions.includes('look') ? await lookForNext(context) : undefined;
  const turn = enqueued.turn ?? (claim?.clientMessageId === clientMessageId ? claim.turn : undefined);
  const { isNew } = enqueued;
  answer(turn === undefined ? { isNew, waiting: context.facts.queue.length } : { isNew, turn, waiting: 0 });
}

/** Nobody could answer it. */
function requireModel({ facts }: ChatContext): void {
  if (facts.model !== undefined) return;
  throw requestFailure('bad_request', 'the chat has no model: bind it to one first', 'model');
}

async function edit(context: ChatContext, filed: FiledRequest<'edit'>): Promise<void> {
  const { chatId } = context.input;
  const { messageId, clientMessageId, text } = filed.request;
  decide(context, { type: 'edit' });
  requireModel(context);
  const { isDone, ...facts } = await chatActivities.checkEdit({ chatId, messageId, clientMessageId, text });
  takeFacts(context, facts);
  const actions = decide(context, { type: 'edit_checked', isDone });
  if (actions.includes('hold_edit')) context.heldEdits.push(filed);
  if (actions.includes('apply_edit')) await applyEdit(context, filed);
  if (actions.includes('interrupt_turn')) await interruptTurn(context);
  if (actions.includes('look')) context.mustLook = true;
}

async function changeQueue(
  context: ChatContext,
  { update, request, answer }: FiledRequest<'deleteQueued'> | FiledRequest<'promoteQueued'>,
): Promise<void> {
  const name = { chatId: context.input.chatId, clientMessageId: request.clientMessageId };
  decide(context, { type: update === 'deleteQueued' ? 'delete_queued' : 'promote_queued' });
  takeFacts(context, await chatActivities[update](name));
  answer({ queue: context.facts.queue });
}

async function interrupt(context: ChatContext, { request, answer }: FiledRequest<'interrupt'>): Promise<void> {
  const { turn: meant } = request;
  const actions = decide(context, { type: 'interrupt', ...(meant === undefined ? {} : { turn: meant }) });
  if (actions.includes('interrupt_turn')) await interruptTurn(context);
  const { state, turn } = context.machine;
  const isStopping = state === 'interrupting' && turn !== undefined && (meant === undefined || meant === turn);
  answer(isStopping ? { turn } : {});
}

async function bind(context: ChatContext, { request, answer }: FiledRequest<'bind'>): Promise<void> {
  const { agentId, model } = request;
  decide(context, { type: 'bind' });
  const bound = await chatActivities.bindChat({
    chatId: context.input.chatId,
    ...(agentId === undefined ? {} : { agentId }),
    ...(model === undefined ? {} : { model }),
  });
  takeFacts(context, bound);
  // What waits may have waited for a model.
  context.mustLook = true;
  answer({ agentId: bound.agentId, model: bound.model ?? '' });
}

async function archive(context: ChatContext, { request, answer }: FiledRequest<'archive'>): Promise<void> {
  const { isArchived } = request;
  decide(context, { type: isArchived ? 'archive' : 'reopen' });
  const facts = await chatActivities.archiveChat({ chatId: context.input.chatId, isArchived });
  takeFacts(context, facts);
  answer({ isArchived: facts.isArchived });
}
