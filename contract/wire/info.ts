import { z } from 'zod';
import { answerFields, chatIdSchema, requestFields } from './envelope.ts';

/** The one verb without a target: it is where a target comes from. */
export const infoRequestSchema = z.strictObject({ ...requestFields, chatId: chatIdSchema.optional() });
export type InfoRequest = z.infer<typeof infoRequestSchema>;

export const infoAnswerSchema = z.strictObject({
  ...answerFields,
  version: z.string(),
  nodeVersion: z.string(),
  pid: z.int(),
  workspace: z.string(),
  /** Start-up scripts are done. */
  ready: z.boolean(),
  /** How a command's processes are known: by cgroup none escapes a kill; by group what does is named as survivor. */
  tree: z.enum(['cgroup', 'group']),
  /** The start-up script of the workspace, where there is one. */
  startup: z
    .strictObject({ state: z.enum(['running', 'ended']), exitCode: z.int().optional(), reason: z.string().optional() })
    .optional(),
  limits: z.record(z.string(), z.number()),
  counts: z.strictObject({ open: z.int(), calls: z.int() }),
  /** With chatId: the highest message id of that chat that the agent has seen, 0 for none. */
  chatHighestMessageId: z.int().min(0).optional(),
});
export type InfoAnswer = z.infer<typeof infoAnswerSchema>;
