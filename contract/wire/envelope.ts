/** What every request and every answer of the agent carries (design §4). Unknown fields are refused on both sides. */
import { z } from 'zod';
import { FAILURES } from '../failures.ts';
import type { FailureCode } from '../failures.ts';
import { parseExecutionKey, splitExecutionKey } from '../execution-key.ts';
import { parseAgentId, parseChatId, parseNonce } from '../ids.ts';
import type { ExecutionKey, Handle, Incarnation, JournalId } from '../ids.ts';
import { AGENT_WAIT_MS_MAX } from '../limits.ts';

/** Raised with every change of meaning. Either side refuses a number that isn't its own (A13). */
export const PROTOCOL_VERSION = 1;

/** A schema from one of the `parseX` functions, whose refusal becomes the issue's message. */
export function parsedBy<Value>(parse: (text: string) => Value) {
  return z.string().transform((text, context): Value => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });
}

export const chatIdSchema = parsedBy(parseChatId);
export const keySchema = parsedBy((text): ExecutionKey => {
  splitExecutionKey(text);
  return parseExecutionKey(text);
});
export const nonceSchema = parsedBy(parseNonce);
export const agentIdSchema = parsedBy(parseAgentId);
export const journalIdSchema = z
  .string()
  .min(1)
  .max(128)
  .transform((text) => text as JournalId);
export const incarnationSchema = z
  .string()
  .min(1)
  .max(128)
  .transform((text) => text as Incarnation);
export const handleSchema = z
  .string()
  .min(1)
  .max(128)
  .transform((text) => text as Handle);
export const sequenceSchema = z.int().min(0);
export const waitMsSchema = z.int().min(0).max(AGENT_WAIT_MS_MAX);

export const targetSchema = z.strictObject({
  agentId: agentIdSchema,
  journalId: journalIdSchema,
  incarnation: incarnationSchema,
  sequence: sequenceSchema,
});

/** Fields that every request begins with. */
export const requestFields = { protocol: z.literal(PROTOCOL_VERSION) };

/** Fields that every answer begins with: whose word it is. */
export const answerFields = {
  protocol: z.literal(PROTOCOL_VERSION),
  agentId: agentIdSchema,
  journalId: journalIdSchema,
  incarnation: incarnationSchema,
  /** Of the last durable commit. */
  sequence: sequenceSchema,
};

/** The answer to a request that was refused or that the key's state forbids; its HTTP status is in FAILURES. */
export const errorAnswerSchema = z.strictObject({
  ...answerFields,
  error: z.strictObject({
    code: z.enum(Object.keys(FAILURES) as [FailureCode, ...FailureCode[]]),
    message: z.string(),
    field: z.string().optional(),
    /** With conflicts: the highest message id of this chat that the agent has seen. */
    chatHighestMessageId: z.int().min(0).optional(),
  }),
});
export type ErrorAnswer = z.infer<typeof errorAnswerSchema>;

export const exitSchema = z.strictObject({
  code: z.int(),
  signal: z.string().optional(),
  killedBy: z.enum(['cancel', 'kill_after', 'signal']).optional(),
  durationMs: z.number().min(0),
});

/** The states of a process that an answer can show. */
export const processStateSchema = z.enum(['starting', 'running', 'exited', 'lost']);
export type ProcessState = z.infer<typeof processStateSchema>;
