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
import { OUTPUT_ANSWER_BYTES_MAX } from '../limits.ts';

const byteCount = z.int().min(0).max(OUTPUT_ANSWER_BYTES_MAX);

export const outputRequestSchema = z
  .strictObject({
    ...requestFields,
    target: targetSchema,
    chatId: chatIdSchema,
    handle: handleSchema.optional(),
    key: keySchema.optional(),
    nonce: nonceSchema.optional(),
    /** Bytes from this absolute offset on; the answer may wait until there are some. */
    from: z.int().min(0).optional(),
    bytesMax: byteCount.optional(),
    /** The first and the last so many bytes in one answer; the answer waits for the end of the process only. */
    view: z
      .strictObject({
        headBytes: byteCount,
        tailBytes: byteCount,
        /** Leaves the bytes out while the process runs: the answer is then small. */
        onlyWhenEnded: z.boolean().optional(),
      })
      .optional(),
    waitMs: waitMsSchema.optional(),
  })
  .refine((request) => (request.handle === undefined) !== (request.key === undefined), {
    message: 'give handle, or key with nonce',
    path: ['handle'],
  })
  .refine((request) => request.key === undefined || request.nonce !== undefined, {
    message: 'a key goes with its nonce',
    path: ['nonce'],
  });
export type OutputRequest = z.infer<typeof outputRequestSchema>;

export const outputAnswerSchema = z.strictObject({
  ...answerFields,
  handle: handleSchema,
  state: processStateSchema,
  startedAt: z.string(),
  ageMs: z.number().min(0),
  exit: exitSchema.optional(),
  /** With `lost`: what happened, in words. */
  reason: z.string().optional(),
  /** All bytes that were ever written, kept or dropped. */
  total: z.int().min(0),
  /** Absolute ranges that are not kept any more, `[from, to)`. */
  dropped: z.array(z.tuple([z.int().min(0), z.int().min(0)])),
  /** Something still holds the output, or the reader has not caught up. */
  outputOpen: z.boolean(),
  /** The reader failed (a full disk): what was written after that is gone. */
  outputIncomplete: z.boolean(),
  /** The last line with something in it, for people; repaired and capped. */
  lastLine: z.string(),
  /** Base64, beginning at `from`. */
  bytes: z.strictObject({ from: z.int().min(0), next: z.int().min(0), base64: z.string() }).optional(),
  /** Base64; `head` and `tail` don't overlap: up to head + tail bytes everything is in `head` and `tail`. */
  view: z.strictObject({ head: z.string(), tail: z.string(), omitted: z.int().min(0) }).optional(),
});
export type OutputAnswer = z.infer<typeof outputAnswerSchema>;
