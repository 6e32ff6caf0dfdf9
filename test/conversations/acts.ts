/** What a person does to a conversation at any moment. Whatever is refused in words has changed nothing. */
import type { MessageId } from '../../contract/ids.ts';
import type { Conversation } from './conversation.ts';

interface Act {
  readonly weight: number;
  readonly run: (conversation: Conversation) => Promise<void>;
}

export const ACTS: readonly Act[] = [
  { weight: 45, run: (conversation) => conversation.send({}) },
  { weight: 8, run: (conversation) => conversation.send({ mode: 'interrupt' }) },
  { weight: 8, run: sendTwice },
  { weight: 14, run: edit },
  { weight: 12, run: interrupt },
  { weight: 8, run: cancelCall },
  { weight: 6, run: deleteQueued },
  { weight: 6, run: promoteQueued },
];

async function sendTwice(conversation: Conversation): Promise<void> {
  const { text } = conversation.random.pick(conversation.accepted);
  await conversation.asked(`send ${text} again`, () => conversation.sendAgain(text));
}

async function edit(conversation: Conversation): Promise<void> {
  const { transcript, chats, chatId, random } = conversation;
  const messages = transcript.messages.filter(({ role, id }) => role === 'user' && transcript.shown.has(id));
  if (messages.length === 0) return;
  const message = random.pick(messages);
  const text = conversation.newText();
  const request = { messageId: message.id as MessageId, clientMessageId: text, text };
  conversation.hasInterrupted = true;
  const isDone = await conversation.asked(`edit ${message.text} to ${text}`, () => chats.edit(chatId, request));
  if (isDone) conversation.accepted.push({ clientMessageId: text, text, isFront: true, isDeleted: false });
}

async function interrupt(conversation: Conversation): Promise<void> {
  conversation.hasInterrupted = true;
  await conversation.asked('interrupt', () => conversation.chats.interrupt(conversation.chatId));
}

/** Of a command that may run: also one in the background, which an interrupt spares. */
async function cancelCall(conversation: Conversation): Promise<void> {
  const { chats, chatId, stage, random } = conversation;
  const calls = await stage.store.listCalls({ chatId });
  const mayRun = calls.filter(({ status, result }) => result === undefined || status === 'detached');
  if (mayRun.length === 0) return;
  const { key } = random.pick(mayRun);
  await conversation.asked(`cancel ${key}`, () => chats.cancelCall(chatId, { key }));
}

async function deleteQueued(conversation: Conversation): Promise<void> {
  const { chats, chatId, stage } = conversation;
  const message = pickWaiting(conversation);
  if (message === undefined) return;
  const { clientMessageId } = message;
  await conversation.asked(`delete ${clientMessageId}`, () => chats.deleteQueued(chatId, { clientMessageId }));
  // Also when it was refused: the answer to an earlier try may have been lost with its server.
  message.isDeleted = (await stage.store.findQueuedMessage({ chatId, clientMessageId }))?.isDeleted ?? false;
}

async function promoteQueued(conversation: Conversation): Promise<void> {
  const { chats, chatId } = conversation;
  const message = pickWaiting(conversation);
  if (message === undefined) return;
  const { clientMessageId } = message;
  message.isFront = true;
  await conversation.asked(`promote ${clientMessageId}`, () => chats.promoteQueued(chatId, { clientMessageId }));
}

/** As far as is known: a turn may take it meanwhile. */
function pickWaiting({ accepted, transcript, random }: Conversation) {
  const waiting = accepted.filter(
    ({ clientMessageId, isDeleted }) => !isDeleted && transcript.turnOf(clientMessageId) === undefined,
  );
  return waiting.length === 0 ? undefined : random.pick(waiting);
}
