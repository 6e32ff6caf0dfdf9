/** Messages: sent, edited, waiting in the queue. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { agentIdSchema, chatIdSchema } from '../../contract/wire/envelope.ts';
import { requireAccess } from '../access/check-request.ts';
import { newChatOf, requireChat } from './chats.ts';
import { jsonRoute } from './route.ts';
import {
  chatParamsSchema,
  clientMessageIdSchema,
  messageIdSchema,
  modelSchema,
  noBodySchema,
  queuedParamsSchema,
  queuedSchema,
} from './schemas.ts';

const queueAnswerSchema = z.strictObject({
  queue: z.array(z.string()).describe('Client message ids in the order in which they will be answered'),
});

export const sendMessageRoute = jsonRoute({
  method: 'POST',
  path: '/v1/chats/:chatId/messages',
  operationId: 'sendMessage',
  summary: 'Sends a message; once per clientMessageId, however often it is repeated. Makes the chat if there is none.',
  params: chatParamsSchema,
  body: z.strictObject({
    text: z.string().describe('At most 256 KiB'),
    clientMessageId: clientMessageIdSchema
      .optional()
      .describe("The sender's own, so that it may repeat the request. Default: a new one"),
    mode: z
      .enum(['queue', 'interrupt'])
      .default('queue')
      .describe('interrupt: stops the running turn, answers this next'),
    agentId: agentIdSchema.optional().describe('For a chat that is made by this'),
    model: modelSchema.optional().describe('For a chat that is made by this'),
  }),
  answer: z.strictObject({
    clientMessageId: z.string(),
    isNew: z.boolean(),
    turn: z.int().optional().describe('The turn that took it, where one has already'),
    waiting: z.int().describe('Messages that wait, this one included; 0 when it was taken'),
  }),
  handle: async ({ params: { chatId }, body, access, services }) => {
    requireAccess(access, chatId);
    const { text, mode, clientMessageId = randomUUID() } = body;
    const chat = await services.store.findChat(chatId);
    const create = chat === undefined ? newChatOf(services, body) : undefined;
    return { clientMessageId, ...(await services.chats.send(chatId, { clientMessageId, text, mode }, create)) };
  },
});

export const editMessageRoute = jsonRoute({
  method: 'POST',
  path: '/v1/chats/:chatId/messages/:messageId/edit',
  operationId: 'editMessage',
  summary: 'Hides this message of the user and all that follows, stops what still runs of it, and answers the new text',
  params: z.strictObject({ chatId: chatIdSchema, messageId: messageIdSchema }),
  body: z.strictObject({ text: z.string(), clientMessageId: clientMessageIdSchema.optional() }),
  answer: z.strictObject({
    clientMessageId: z.string(),
    isNew: z.boolean(),
    epoch: z.int(),
    stopping: z.array(z.string()).describe('Keys of calls whose processes are being stopped'),
  }),
  handle: async ({ params: { chatId, messageId }, body, access, services }) => {
    await requireChat(services, access, chatId);
    const { text, clientMessageId = randomUUID() } = body;
    const { isNew, epoch, stopping } = await services.chats.edit(chatId, { messageId, clientMessageId, text });
    return { clientMessageId, isNew, epoch, stopping: [...stopping] };
  },
});

export const listQueueRoute = jsonRoute({
  method: 'GET',
  path: '/v1/chats/:chatId/queue',
  operationId: 'listQueue',
  summary: 'What waits, in the order in which it will be answered',
  params: chatParamsSchema,
  answer: z.strictObject({ queue: z.array(queuedSchema) }),
  handle: async ({ params: { chatId }, access, services }) => {
    await requireChat(services, access, chatId);
    const queue = await services.store.listQueued(chatId);
    return { queue: queue.map(({ clientMessageId, text }) => ({ clientMessageId, text })) };
  },
});

export const deleteQueuedRoute = jsonRoute({
  method: 'DELETE',
  path: '/v1/chats/:chatId/queue/:clientMessageId',
  operationId: 'deleteQueued',
  summary: 'Takes a message out of the queue. Refused when a turn has taken it.',
  params: queuedParamsSchema,
  answer: queueAnswerSchema,
  handle: async ({ params: { chatId, clientMessageId }, access, services }) => {
    await requireChat(services, access, chatId);
    const { queue } = await services.chats.deleteQueued(chatId, { clientMessageId });
    return { queue: [...queue] };
  },
});

export const promoteQueuedRoute = jsonRoute({
  method: 'POST',
  path: '/v1/chats/:chatId/queue/:clientMessageId/promote',
  operationId: 'promoteQueued',
  summary: 'Puts a message to the front of the queue. Refused when a turn has taken it.',
  params: queuedParamsSchema,
  body: noBodySchema,
  answer: queueAnswerSchema,
  handle: async ({ params: { chatId, clientMessageId }, access, services }) => {
    await requireChat(services, access, chatId);
    const { queue } = await services.chats.promoteQueued(chatId, { clientMessageId });
    return { queue: [...queue] };
  },
});
