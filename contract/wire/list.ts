import { z } from 'zod';
import {
  answerFields,
  chatIdSchema,
  exitSchema,
  handleSchema,
  keySchema,
  requestFields,
  targetSchema,
} from './envelope.ts';
import { keyStateSchema } from './probe.ts';

export const listRequestSchema = z.strictObject({
  ...requestFields,
  target: targetSchema,
  chatId: chatIdSchema,
  /** Only those that have not ended. */
  onlyOpen: z.boolean().optional(),
  /** Go on after the page that ended with this cursor. */
  after: z.string().max(64).optional(),
  limit: z.int().min(1).max(200).optional(),
});
export type ListRequest = z.infer<typeof listRequestSchema>;

export const listAnswerSchema = z.strictObject({
  ...answerFields,
  processes: z.array(
    z.strictObject({
      key: keySchema,
      handle: handleSchema.optional(),
      state: keyStateSchema,
      /** The first line of the command, capped. */
      command: z.string(),
      background: z.boolean(),
      startedAt: z.string().optional(),
      ageMs: z.number().min(0).optional(),
      exit: exitSchema.optional(),
    }),
  ),
  /** The cursor of the next page; absent on the last one. */
  next: z.string().optional(),
});
export type ListAnswer = z.infer<typeof listAnswerSchema>;
