/** Chats: made, looked at, bound, archived, interrupted. */
import { z } from 'zod';
import { Refusal } from '../../contract/failures.ts';
import type { AgentId, ChatId } from '../../contract/ids.ts';
import { agentIdSchema, chatIdSchema } from '../../contract/wire/envelope.ts';
import { requireAccess, unknownChat } from '../access/check-request.ts';
import type { Access } from '../access/tokens.ts';
import type { Chat } from '../open-store.ts';
import type { Services } from '../services.ts';
import { jsonRoute } from './route.ts';
import { chatParamsSchema, chatSchema, modelSchema, noBodySchema } from './schemas.ts';

const answerSchema = z.strictObject({ chat: chatSchema });

export const createChatRoute = jsonRoute({
  method: 'POST',
  path: '/v1/chats',
  operationId: 'createChat',
  summary: 'Makes a chat, without a message. Repeating it with the same id changes nothing.',
  body: z.strictObject({
    chatId: chatIdSchema
      .optional()
      .describe('Default: a new one, which begins as the ids do that the token is bound to'),
    agentId: agentIdSchema.optional().describe("Default: the gateway's"),
    model: modelSchema.optional().describe("Default: the gateway's"),
  }),
  answer: answerSchema,
  handle: async ({ body, access, services }) => {
    const chatId = body.chatId ?? access.makeChatId();
    requireAccess(access, chatId);
    await services.store.createChat({ chatId, ...newChatOf(services, body) });
    return { chat: toDocument(await requireChat(services, access, chatId)) };
  },
});

export const showChatRoute = jsonRoute({
  method: 'GET',
  path: '/v1/chats/:chatId',
  operationId: 'showChat',
  summary: 'One chat as it is now',
  params: chatParamsSchema,
  answer: answerSchema,
  handle: async ({ params, access, services }) => ({
    chat: toDocument(await requireChat(services, access, params.chatId)),
  }),
});

export const bindChatRoute = jsonRoute({
  method: 'POST',
  path: '/v1/chats/:chatId/bind',
  operationId: 'bindChat',
  summary: 'Binds the chat to another agent or model, from its next turn on; a running call stays where it is',
  params: chatParamsSchema,
  body: z.strictObject({ agentId: agentIdSchema.optional(), model: modelSchema.optional() }),
  answer: z.strictObject({ agentId: z.string(), model: z.string() }),
  handle: async ({ params: { chatId }, body, access, services }) => {
    await requireChat(services, access, chatId);
    const { agentId, model } = body;
    return services.chats.bind(chatId, {
      ...(agentId !== undefined && { agentId }),
      ...(model !== undefined && { model }),
    });
  },
});

export const archiveChatRoute = jsonRoute({
  method: 'POST',
  path: '/v1/chats/:chatId/archive',
  operationId: 'archiveChat',
  summary: 'Closes the chat for messages, or opens it again. Refused while a turn runs or messages wait.',
  params: chatParamsSchema,
  body: z.strictObject({ isArchived: z.boolean() }),
  answer: z.strictObject({ isArchived: z.boolean() }),
  handle: async ({ params: { chatId }, body, access, services }) => {
    await requireChat(services, access, chatId);
    return services.chats.archive(chatId, body);
  },
});

export const interruptRoute = jsonRoute({
  method: 'POST',
  path: '/v1/chats/:chatId/interrupt',
  operationId: 'interruptChat',
  summary: 'Stops the running turn: its commands are killed, what was said stays. Without one it changes nothing.',
  params: chatParamsSchema,
  body: noBodySchema,
  answer: z.strictObject({ turn: z.int().optional().describe('The one that is being stopped') }),
  handle: async ({ params: { chatId }, access, services }) => {
    await requireChat(services, access, chatId);
    return services.chats.interrupt(chatId, { who: access.name });
  },
});

/** Throws `unknown_chat` for one that isn't there, and for one that is none of the caller's business. */
export async function requireChat({ store }: Services, access: Access, chatId: ChatId): Promise<Chat> {
  requireAccess(access, chatId);
  const chat = await store.findChat(chatId);
  if (chat === undefined) throw unknownChat(chatId);
  return chat;
}

/** What a new chat is bound to: what was asked for, else the gateway's own. */
export function newChatOf(
  { defaults }: Services,
  asked: { readonly agentId?: AgentId | undefined; readonly model?: string | undefined },
): { agentId: AgentId; model: string } {
  const agentId = asked.agentId ?? defaults.agentId;
  const model = asked.model ?? defaults.model;
  if (agentId === undefined) throw missing('agentId', 'LATCHKEY_GATEWAY_AGENT');
  if (model === undefined) throw missing('model', 'LATCHKEY_MODEL');
  return { agentId, model };
}

function missing(field: string, setting: string): Refusal {
  return new Refusal('bad_request', `${field} is needed: this gateway was started without ${setting}`, field);
}

export function toDocument(chat: Chat): z.infer<typeof chatSchema> {
  const { chatId, title, agentId, model, activeTurn, epoch, lastError, createdAt, updatedAt } = chat;
  return {
    chatId,
    ...(title !== undefined && { title }),
    agentId,
    ...(model !== undefined && { model }),
    state: chat.isArchived ? 'archived' : activeTurn === undefined ? 'idle' : 'running',
    ...(activeTurn !== undefined && { turn: activeTurn }),
    epoch,
    ...(lastError !== undefined && { lastError }),
    createdAt,
    updatedAt,
  };
}
