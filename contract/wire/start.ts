import { z } from 'zod';
import {
  answerFields,
  chatIdSchema,
  exitSchema,
  handleSchema,
  keySchema,
  nonceSchema,
  processStateSchema,
  requestFields,
  targetSchema,
  waitMsSchema,
} from './envelope.ts';
import { isWellFormed, utf8Length } from '../well-formed.ts';
import { COMMAND_BYTES_MAX, ENVIRONMENT_BYTES_MAX, ENVIRONMENT_ENTRIES_MAX, WORKDIR_BYTES_MAX } from '../limits.ts';

function plainText(bytesMax: number) {
  return z
    .string()
    .refine((text) => !text.includes('\0'), { message: 'has a NUL character' })
    .refine(isWellFormed, { message: 'has a lone surrogate, which is not text' })
    .refine((text) => utf8Length(text) <= bytesMax, { message: `has more than ${bytesMax} bytes` });
}

const environmentSchema = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { message: 'a variable is named by letters, digits and _' }),
    plainText(ENVIRONMENT_BYTES_MAX),
  )
  .refine((env) => Object.keys(env).length <= ENVIRONMENT_ENTRIES_MAX, {
    message: `has more than ${ENVIRONMENT_ENTRIES_MAX} variables`,
  })
  .refine(
    (env) =>
      Object.entries(env).reduce((sum, [name, value]) => sum + utf8Length(name) + utf8Length(value) + 2, 0) <=
      ENVIRONMENT_BYTES_MAX,
    { message: `has more than ${ENVIRONMENT_BYTES_MAX} bytes` },
  );

export const startRequestSchema = z.strictObject({
  ...requestFields,
  target: targetSchema,
  chatId: chatIdSchema,
  key: keySchema,
  nonce: nonceSchema,
  command: plainText(COMMAND_BYTES_MAX).refine((text) => text.trim() !== '', { message: 'is empty' }),
  /** As requested; relative to the workspace. Left out: the workspace itself. */
  workdir: plainText(WORKDIR_BYTES_MAX).min(1).optional(),
  env: environmentSchema.optional(),
  background: z.boolean(),
  /** The agent itself kills the tree so long after the start (boot clock). No part of the fingerprint. */
  killAfterMs: z.int().min(1).optional(),
  /** How long the answer may wait for the launch. */
  waitMs: waitMsSchema.optional(),
  /** Attach only: where the key is absent it is fenced and the answer is `absent`. */
  mustExist: z.boolean().optional(),
});
export type StartRequest = z.infer<typeof startRequestSchema>;

export const startAnswerSchema = z.discriminatedUnion('outcome', [
  z.strictObject({
    ...answerFields,
    outcome: z.enum(['started', 'attached']),
    handle: handleSchema,
    state: processStateSchema,
    /** Wall clock of the original start, ISO 8601. */
    startedAt: z.string(),
    /** Since the original start, by the boot clock. */
    ageMs: z.number().min(0),
    /** Launches of this key: more than 1 after a void one. */
    launches: z.int().min(1),
    exit: exitSchema.optional(),
    /** Runs in the background: as asked, or by a lone trailing `&`. */
    background: z.boolean().optional(),
  }),
  z.strictObject({ ...answerFields, outcome: z.literal('absent') }),
]);
export type StartAnswer = z.infer<typeof startAnswerSchema>;
