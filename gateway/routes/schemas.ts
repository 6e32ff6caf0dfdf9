/** What comes in and goes out, for both the check and the OpenAPI document. Unknown fields are refused by name. */
import { z } from 'zod';
import { CALL_STATUSES } from '../../contract/calls.ts';
import { isFailureCode } from '../../contract/failures.ts';
import { parseExecutionKey } from '../../contract/execution-key.ts';
import { parseMessageId } from '../../contract/ids.ts';
import type { ExecutionKey, MessageId } from '../../contract/ids.ts';
import { chatIdSchema, parsedBy } from '../../contract/wire/envelope.ts';
import { LIST_ENTRIES_DEFAULT, LIST_ENTRIES_MAX } from '../limits.ts';

const CLIENT_MESSAGE_ID_CHARACTERS_MAX = 200;
const MODEL_CHARACTERS_MAX = 300;

export const keySchema: z.ZodType<ExecutionKey> = parsedBy(parseExecutionKey);
export const messageIdSchema: z.ZodType<MessageId> = parsedBy((text) => parseMessageId(Number(text)));
export const clientMessageIdSchema = z.string().min(1).max(CLIENT_MESSAGE_ID_CHARACTERS_MAX);
export const modelSchema = z.string().min(1).max(MODEL_CHARACTERS_MAX);
export const wholeNumberSchema = parsedBy((text) => {
  if (!/^\d{1,15}$/.test(text)) throw new Error('must be a whole number, 0 or more');
  return Number(text);
});
export const limitSchema = wholeNumberSchema
  .pipe(z.number().min(1).max(LIST_ENTRIES_MAX))
  .default(LIST_ENTRIES_DEFAULT)
  .describe(`1 to ${LIST_ENTRIES_MAX}`);

export const noBodySchema = z.strictObject({}).optional();
export const chatParamsSchema = z.strictObject({ chatId: chatIdSchema });
export const queuedParamsSchema = z.strictObject({ chatId: chatIdSchema, clientMessageId: clientMessageIdSchema });
export const callParamsSchema = z.strictObject({ chatId: chatIdSchema, key: keySchema });

export const errorAnswerSchema = z.strictObject({
  error: z.strictObject({
    code: z.string().refine(isFailureCode).describe('Stable; the table x-codes says what to do'),
    message: z.string(),
    /** What the caller should look at. */
    field: z.string().optional(),
    nextStep: z.string(),
  }),
});

const failureSchema = z.strictObject({ code: z.string(), message: z.string() });

export const queuedSchema = z.strictObject({
  clientMessageId: z.string(),
  text: z.string(),
});

export const chatSchema = z.strictObject({
  chatId: z.string(),
  title: z.string().optional(),
  agentId: z.string(),
  model: z.string().optional(),
  state: z.enum(['idle', 'running', 'archived']),
  turn: z.int().optional().describe('The one that runs'),
  epoch: z.int().describe('One more with each edit'),
  lastError: failureSchema.optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
});

const resultSchema = z.strictObject({ text: z.string(), isError: z.boolean() });

export const callSchema = z.strictObject({
  key: z.string(),
  messageId: z.int(),
  turn: z.int(),
  position: z.int(),
  toolCallId: z.string(),
  toolName: z.string(),
  summary: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  agentId: z.string(),
  status: z.enum(CALL_STATUSES),
  evidence: z.looseObject({ code: z.string(), detail: z.string() }).optional(),
  result: resultSchema.optional().describe('What the model reads'),
  handle: z.string().optional(),
  exitCode: z.int().optional(),
  durationMs: z.number().optional().describe("How long its command ran, by its agent's clock"),
  createdAt: z.string(),
  resolvedAt: z.string().optional(),
  settledAt: z.string().optional().describe('When more became known than the result says'),
});

export const messageSchema = z.strictObject({
  id: z.int(),
  role: z.enum(['user', 'assistant', 'summary']).describe('A summary stands for older messages before the model only'),
  turn: z.int(),
  step: z.int().optional(),
  clientMessageId: z.string().optional().describe('Of a message of the user'),
  text: z.string(),
  at: z.string(),
  summarizedBy: z.int().optional(),
  calls: z.array(callSchema),
  notes: z
    .array(z.strictObject({ key: z.string(), text: z.string(), at: z.string() }))
    .describe('What became known after it of an earlier call'),
});
