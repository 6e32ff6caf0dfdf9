import { z } from 'zod';
import {
  answerFields,
  chatIdSchema,
  exitSchema,
  handleSchema,
  processStateSchema,
  requestFields,
  targetSchema,
  waitMsSchema,
} from './envelope.ts';
import { survivorSchema } from './cancel.ts';
import { SIGNALS } from '../signals.ts';

export const signalRequestSchema = z.strictObject({
  ...requestFields,
  target: targetSchema,
  chatId: chatIdSchema,
  handle: handleSchema,
  /** Names this sending: it is done once per id, however often it is asked for (I07). */
  id: z.string().min(1).max(1024),
  signal: z.enum(SIGNALS, { error: `must be one of ${SIGNALS.join(', ')}` }),
  /** How long the answer may wait for the process to end. */
  waitMs: waitMsSchema.optional(),
});
export type SignalRequest = z.infer<typeof signalRequestSchema>;

export const signalAnswerSchema = z.strictObject({
  ...answerFields,
  /**
   * `sent` now · `repeated`: it was sent when this id came first · `ended`: there was nothing left to signal ·
   * `in_doubt`: the agent died while it sent it, and nobody sends it again.
   */
  outcome: z.enum(['sent', 'repeated', 'ended', 'in_doubt']),
  state: processStateSchema,
  exit: exitSchema.optional(),
  /** With SIGKILL, SIGTERM, SIGINT, SIGHUP and SIGQUIT: what is still alive of the tree after the wait. */
  survivors: z.array(survivorSchema),
});
export type SignalAnswer = z.infer<typeof signalAnswerSchema>;
