/** Calls, and what their processes have written. */
import { z } from 'zod';
import { CALL_STATUSES } from '../../contract/calls.ts';
import { CodedError, Refusal } from '../../contract/failures.ts';
import type { ChatId, ExecutionKey } from '../../contract/ids.ts';
import type { Access } from '../access/tokens.ts';
import type { StoredCall } from '../open-store.ts';
import type { Services } from '../services.ts';
import { requireChat } from './chats.ts';
import { jsonRoute } from './route.ts';
import { callParamsSchema, callSchema, chatParamsSchema, noBodySchema, wholeNumberSchema } from './schemas.ts';

export const listCallsRoute = jsonRoute({
  method: 'GET',
  path: '/v1/chats/:chatId/calls',
  operationId: 'listCalls',
  summary: 'The calls of a chat, or of one of its turns, in the order in which they were asked for',
  params: chatParamsSchema,
  query: z.strictObject({ turn: wholeNumberSchema.optional() }),
  answer: z.strictObject({ calls: z.array(callSchema) }),
  handle: async ({ params: { chatId }, query: { turn }, access, services }) => {
    await requireChat(services, access, chatId);
    const calls = await services.store.listCalls({ chatId, ...(turn !== undefined && { turn }) });
    return { calls: calls.map(toDocument) };
  },
});

export const showCallRoute = jsonRoute({
  method: 'GET',
  path: '/v1/chats/:chatId/calls/:key',
  operationId: 'showCall',
  summary: 'One call, with its result where it has one',
  params: callParamsSchema,
  answer: z.strictObject({ call: callSchema }),
  handle: async ({ params, access, services }) => ({ call: toDocument(await requireCall(services, access, params)) }),
});

export const callOutputRoute = jsonRoute({
  method: 'GET',
  path: '/v1/chats/:chatId/calls/:key/output',
  operationId: 'readCallOutput',
  summary:
    'What is known of its output: the result that the model reads once there is one, else the last line and count of ' +
    'bytes of the running command. With source=agent what its agent has of it now, also of a command in the background.',
  params: callParamsSchema,
  query: z.strictObject({
    source: z.enum(['known', 'agent']).optional().describe('Default: known'),
    from: wholeNumberSchema
      .optional()
      .describe('With source=agent: bytes from this offset on. Default: the first and the last ones'),
  }),
  answer: z.union([
    z.strictObject({
      source: z.literal('agent'),
      text: z.string(),
      detail: z.string().describe('How the process is, and how much it has printed'),
    }),
    z.strictObject({ source: z.literal('result'), text: z.string(), isError: z.boolean() }),
    z.strictObject({
      source: z.literal('tail'),
      phase: z.string(),
      bytes: z.int(),
      lastLine: z.string(),
      startedAt: z.string().optional(),
      unreachableSince: z.string().optional(),
    }),
    z.strictObject({ source: z.literal('nothing').describe('It was not started, or has not told of itself yet') }),
  ]),
  handle: async ({ params, query: { source, from }, access, services }) => {
    if (source === 'agent') {
      const { chatId, key } = params;
      await requireChat(services, access, chatId);
      const asked = { key, ...(from !== undefined && { fromByte: from }) };
      return { source: 'agent' as const, ...(await services.chats.output(chatId, asked)) };
    }
    const call = await requireCall(services, access, params);
    if (from !== undefined) throw new Refusal('bad_request', 'from is for source=agent', 'from');
    if (call.result !== undefined) return { source: 'result' as const, ...call.result };
    const tails = await services.tails.read(params.chatId, call.turn);
    const tail = tails.find(({ key }) => key === call.key);
    if (tail === undefined) return { source: 'nothing' as const };
    const { phase, bytes = 0, lastLine = '', startedAt, unreachableSince } = tail;
    return {
      source: 'tail' as const,
      phase,
      bytes,
      lastLine,
      ...(startedAt !== undefined && { startedAt }),
      ...(unreachableSince !== undefined && { unreachableSince }),
    };
  },
});

export const cancelCallRoute = jsonRoute({
  method: 'POST',
  path: '/v1/chats/:chatId/calls/:key/cancel',
  operationId: 'cancelCall',
  summary:
    'Kills the command of one call, also one in the background; its turn goes on with that result. Answers when it has ' +
    'ended, or when its agent did not say so in time: then it may be asked again.',
  params: callParamsSchema,
  body: noBodySchema,
  answer: z.strictObject({
    hasEnded: z.boolean().describe("It does not run any more, by its agent's word"),
    status: z.enum(CALL_STATUSES),
    message: z.string(),
  }),
  handle: async ({ params, access, services }) => {
    const { key } = await requireCall(services, access, params);
    return services.chats.cancelCall(params.chatId, { key, who: access.name });
  },
});

async function requireCall(
  services: Services,
  access: Access,
  { chatId, key }: { readonly chatId: ChatId; readonly key: ExecutionKey },
): Promise<StoredCall> {
  await requireChat(services, access, chatId);
  const call = await services.store.findCall({ chatId, key });
  if (call === undefined) throw new CodedError('unknown_process', `chat ${chatId} has no call ${key}`, 'key');
  return call;
}

export function toDocument(call: StoredCall): z.infer<typeof callSchema> {
  const { key, messageId, turn, position, toolCallId, toolName, summary, agentId, status, createdAt } = call;
  const { evidence, result, handle, exitCode, resolvedAt, settledAt } = call;
  const durationMs = call.outcome?.exit?.durationMs;
  return {
    key,
    messageId,
    turn,
    position,
    toolCallId,
    toolName,
    summary,
    arguments: call.arguments,
    agentId,
    status,
    createdAt,
    ...(evidence !== undefined && { evidence: { ...evidence } }),
    ...(result !== undefined && { result }),
    ...(handle !== undefined && { handle }),
    ...(exitCode !== undefined && { exitCode }),
    ...(durationMs !== undefined && { durationMs }),
    ...(resolvedAt !== undefined && { resolvedAt }),
    ...(settledAt !== undefined && { settledAt }),
  };
}
