import { z } from 'zod';
import {
  answerFields,
  chatIdSchema,
  keySchema,
  nonceSchema,
  requestFields,
  targetSchema,
  waitMsSchema,
} from './envelope.ts';
import { keyStateFields } from './probe.ts';

/** A process of the tree that is still alive. */
export const survivorSchema = z.strictObject({ pid: z.int(), name: z.string() });

export const cancelRequestSchema = z.strictObject({
  ...requestFields,
  target: targetSchema,
  chatId: chatIdSchema,
  key: keySchema,
  nonce: nonceSchema,
  /** `fence`: nothing that runs is touched. `kill`: the same, and what runs is stopped, TERM, grace, KILL. */
  mode: z.enum(['kill', 'fence']),
  graceMs: z.int().min(0).max(60_000).optional(),
  /** How long the answer may wait for the end of what was killed, grace included. */
  waitMs: waitMsSchema.optional(),
});
export type CancelRequest = z.infer<typeof cancelRequestSchema>;

export const cancelAnswerSchema = z.strictObject({
  ...answerFields,
  ...keyStateFields,
  /** Processes of the tree that are still alive, by pid and command name. */
  survivors: z.array(survivorSchema),
});
export type CancelAnswer = z.infer<typeof cancelAnswerSchema>;
