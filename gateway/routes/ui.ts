/** What `useChat` of the AI SDK talks to, as it is: its transport's defaults are these paths. */
import { z } from 'zod';
import { Refusal } from '../../contract/failures.ts';
import type { ChatId, MessageId } from '../../contract/ids.ts';
import { chatIdSchema } from '../../contract/wire/envelope.ts';
import { requireAccess } from '../access/check-request.ts';
import { UI_BODY_BYTES_MAX } from '../limits.ts';
import type { ChatFrame } from '../open-store.ts';
import type { Services } from '../services.ts';
import { streamTurn } from '../ui/stream-turn.ts';
import { toUiMessages } from '../ui/ui-messages.ts';
import { originOf, readIntent, uiRequestSchema } from '../ui/ui-request.ts';
import type { UiRequest } from '../ui/ui-request.ts';
import { newChatOf, requireChat } from './chats.ts';
import { jsonRoute, streamRoute } from './route.ts';

const paramsSchema = z.strictObject({ id: chatIdSchema });
const STREAMS = 'The AI SDK UI message stream, version 1: one UIMessageChunk each, then [DONE]';

export const sendUiMessageRoute = streamRoute({
  method: 'POST',
  path: '/api/chat',
  operationId: 'sendUiMessage',
  summary: "Sends the user's last message, whose id is the clientMessageId, and streams the turn that answers it",
  streams: STREAMS,
  body: uiRequestSchema,
  bodyBytesMax: UI_BODY_BYTES_MAX,
  handle: async ({ body, access, services, reply }) => {
    const chatId = body.id;
    requireAccess(access, chatId);
    await streamTurn({ services, access, reply }, async (signal) => {
      const { store } = services;
      // Before it is sent, so that the turn is seen from its beginning.
      const after = (await store.findCursor(chatId)) ?? 0;
      const { clientMessageId, turn } = await submit(services, body);
      // One that was sent before: told from what is stored.
      if (turn !== undefined) return { chatId, turn, frames: store.followChat({ chatId, turn, signal }) };
      return {
        chatId,
        clientMessageId,
        frames: store.followChat({ chatId, after, signal }),
        isOff: async () => (await store.findQueuedMessage({ chatId, clientMessageId }))?.isDeleted === true,
      };
    });
  },
});

async function submit(services: Services, body: UiRequest): Promise<{ clientMessageId: string; turn?: number }> {
  const { chats, store } = services;
  const chatId = body.id;
  const chat = await store.findChat(chatId);
  const intent = readIntent(body, chat?.epoch ?? 0);
  const { clientMessageId, text } = intent;
  if (intent.kind === 'edit') {
    const messageId = await findMessageId(store, chatId, intent.editedId);
    await chats.edit(chatId, { messageId, clientMessageId, text });
    return { clientMessageId };
  }
  const create = chat === undefined ? newChatOf(services, body) : undefined;
  const answer = await chats.send(chatId, { clientMessageId, text }, create);
  return { clientMessageId, ...(!answer.isNew && answer.turn !== undefined && { turn: answer.turn }) };
}

async function findMessageId(store: Services['store'], chatId: ChatId, clientMessageId: string): Promise<MessageId> {
  for (const frame of await readSnapshot(store, chatId)) {
    if (frame.type !== 'message' || frame.role !== 'user') continue;
    if (originOf(frame.clientMessageId) === clientMessageId) return frame.id;
  }
  throw new Refusal('unknown_message', `chat ${chatId} shows no message ${clientMessageId}`, 'messageId');
}

export const resumeUiStreamRoute = streamRoute({
  method: 'GET',
  path: '/api/chat/:id/stream',
  operationId: 'resumeUiStream',
  summary: 'The running turn, or the one that is about to begin, from its beginning; 204 when nothing runs',
  streams: STREAMS,
  mayBeEmpty: true,
  params: paramsSchema,
  handle: async ({ params: { id: chatId }, access, services, reply }) => {
    requireAccess(access, chatId);
    // A chat is made by its first message, and a page may ask before that.
    if ((await services.store.findChat(chatId)) === undefined) return void reply.code(204).send();
    const snapshot = await readSnapshot(services.store, chatId, 'running');
    const status = snapshot.find((frame) => frame.type === 'status');
    const waits = snapshot.some((frame) => frame.type === 'queued');
    if (status?.turn === undefined && !waits) return void reply.code(204).send();
    const turn = status?.turn;
    const after = snapshot.flatMap((frame) => (frame.type === 'live' ? [frame.seq] : []))[0] ?? 0;
    await streamTurn({ services, access, reply }, async (signal) => ({
      chatId,
      ...(turn !== undefined && { turn }),
      frames: replay(snapshot, services.store.followChat({ chatId, after, signal })),
      isOff: async () => {
        const [queued, chat] = await Promise.all([services.store.listQueued(chatId), services.store.findChat(chatId)]);
        return queued.length === 0 && chat?.activeTurn === undefined;
      },
    }));
  },
});

async function* replay(
  snapshot: readonly ChatFrame[],
  live: AsyncIterable<ChatFrame>,
): AsyncGenerator<ChatFrame, void, void> {
  yield* snapshot;
  yield* live;
}

export const showUiMessagesRoute = jsonRoute({
  method: 'GET',
  path: '/api/chat/:id',
  operationId: 'showUiMessages',
  summary: "What was said so far, for useChat's `messages`; a running turn's answer comes by its stream",
  params: paramsSchema,
  answer: z.strictObject({
    id: z.string(),
    messages: z.array(z.looseObject({ id: z.string(), role: z.string(), parts: z.array(z.looseObject({})) })),
  }),
  handle: async ({ params: { id }, access, services }) => {
    await requireChat(services, access, id);
    const messages = toUiMessages(await readSnapshot(services.store, id));
    return {
      id,
      messages: messages.map(({ parts, ...message }) => ({ ...message, parts: parts.map((part) => ({ ...part })) })),
    };
  },
});

/** The frames of a snapshot, the `live` one included. */
async function readSnapshot(store: Services['store'], chatId: ChatId, turn?: 'running'): Promise<ChatFrame[]> {
  const frames: ChatFrame[] = [];
  const { signal } = new AbortController();
  for await (const frame of store.followChat({ chatId, ...(turn !== undefined && { turn }), signal })) {
    frames.push(frame);
    if (frame.type === 'live') break;
  }
  return frames;
}
