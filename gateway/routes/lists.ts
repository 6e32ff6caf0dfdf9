/** What is listed page by page: chats, and the messages of one. */
import { z } from 'zod';
import type { Access } from '../access/tokens.ts';
import type { ListedChat, ListedMessage, Store } from '../open-store.ts';
import { toDocument as toCallDocument } from './calls.ts';
import { requireChat } from './chats.ts';
import { jsonRoute } from './route.ts';
import { chatParamsSchema, chatSchema, limitSchema, messageIdSchema, messageSchema } from './schemas.ts';

/** A token that is bound to a few of many chats sees them through pages that hold none of them. */
const PAGES_LOOKED_AT_MAX = 20;

const listedChatSchema = chatSchema.omit({ epoch: true });

export const listChatsRoute = jsonRoute({
  method: 'GET',
  path: '/v1/chats',
  operationId: 'listChats',
  summary: 'Chats, by the time of what was said last. Of a token bound to some a page may hold fewer, or none.',
  query: z.strictObject({
    after: z.string().optional().describe('`next` of the page before'),
    limit: limitSchema,
    query: z.string().optional().describe('A text as it stands, in title or messages, in any case'),
    archived: z.enum(['true', 'false']).default('false').describe('Also those that are archived'),
  }),
  answer: z.strictObject({ chats: z.array(listedChatSchema), next: z.string().optional() }),
  handle: async ({ query: { after, limit, query, archived }, access, services }) => {
    const asked = { limit, includeArchived: archived === 'true', ...(query !== undefined && { query }) };
    const { chats, next } = await findPage(services.store, access, { ...asked, ...(after !== undefined && { after }) });
    return { chats: chats.map(toDocument), ...(next !== undefined && { next }) };
  },
});

async function findPage(
  store: Store,
  access: Access,
  asked: Parameters<Store['listChats']>[0],
): Promise<{ chats: readonly ListedChat[]; next?: string }> {
  let after = asked.after;
  for (let looked = 1; ; looked += 1) {
    const page = await store.listChats({ ...asked, ...(after !== undefined && { after }) });
    const chats = page.chats.filter(({ chatId }) => access.mayUse(chatId));
    if (chats.length > 0 || page.next === undefined || looked === PAGES_LOOKED_AT_MAX) return { ...page, chats };
    after = page.next;
  }
}

function toDocument({ activeTurn, archivedAt, lastError, ...chat }: ListedChat): z.infer<typeof listedChatSchema> {
  return {
    ...chat,
    state: archivedAt !== undefined ? 'archived' : activeTurn === undefined ? 'idle' : 'running',
    ...(activeTurn !== undefined && { turn: activeTurn }),
    ...(lastError !== undefined && { lastError: { ...lastError } }),
  };
}

export const listMessagesRoute = jsonRoute({
  method: 'GET',
  path: '/v1/chats/:chatId/messages',
  operationId: 'listMessages',
  summary: 'What was said, oldest first, with calls: the newest page, or the one before or after a message id',
  params: chatParamsSchema,
  query: z.strictObject({
    before: messageIdSchema.optional(),
    after: messageIdSchema.optional(),
    limit: limitSchema,
  }),
  answer: z.strictObject({
    messages: z.array(messageSchema),
    hasMore: z.boolean().describe('In the direction that was asked for'),
  }),
  handle: async ({ params: { chatId }, query: { before, after, limit }, access, services }) => {
    await requireChat(services, access, chatId);
    const { messages, hasMore } = await services.store.listMessages({
      chatId,
      limit,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    });
    return { messages: messages.map(toMessageDocument), hasMore };
  },
});

function toMessageDocument({ calls, notes, ...message }: ListedMessage): z.infer<typeof messageSchema> {
  return { ...message, calls: calls.map(toCallDocument), notes: [...notes] };
}
