import { z } from 'zod';
import {
  answerFields,
  chatIdSchema,
  exitSchema,
  handleSchema,
  keySchema,
  nonceSchema,
  requestFields,
  targetSchema,
} from './envelope.ts';

export const probeRequestSchema = z.strictObject({
  ...requestFields,
  target: targetSchema,
  chatId: chatIdSchema,
  key: keySchema,
  nonce: nonceSchema,
});
export type ProbeRequest = z.infer<typeof probeRequestSchema>;

/** What is true of a key: also the answer of `cancel`. */
export const keyStateSchema = z.enum([
  'running',
  'exited',
  'pending',
  'fenced',
  'void',
  'spawn_failed',
  'lost',
  'expired',
  'absent',
]);
export type KeyState = z.infer<typeof keyStateSchema>;

export const keyStateFields = {
  state: keyStateSchema,
  handle: handleSchema.optional(),
  /** With `pending`: since the reserve, by the boot clock. */
  reservedAgeMs: z.number().min(0).optional(),
  startedAt: z.string().optional(),
  ageMs: z.number().min(0).optional(),
  exit: exitSchema.optional(),
  /** With `lost` and `spawn_failed`: what happened, in words. */
  reason: z.string().optional(),
};

export const probeAnswerSchema = z.strictObject({ ...answerFields, ...keyStateFields });
export type ProbeAnswer = z.infer<typeof probeAnswerSchema>;
