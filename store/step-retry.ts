import type { Database } from './database.ts';
import { updateStep } from './step-rows.ts';
import { requireHeldStep } from './steps.ts';
import type { StepAttempt } from './steps.ts';
import { withdrawParts } from './step-withdrawal.ts';
import { toStoredText } from './stored-text.ts';
import { appendEvents } from './stream-events.ts';
import { changeChat } from './transaction.ts';

export interface StepRetry {
  /** Of `contract/failures.ts`. */
  readonly code: string;
  readonly message: string;
  /** Of the attempt that failed, from 1. */
  readonly attempt: number;
  readonly retryInMs: number;
}

/**
 * An attempt failed and another will follow: takes back what it showed (F09) and tells watchers what is waited for.
 * Throws as `writePart` does when the attempt doesn't hold the step any more.
 */
export async function noteRetry(db: Database, held: StepAttempt, retry: StepRetry): Promise<void> {
  const { chatId, turn, step } = held;
  const { code, attempt, retryInMs } = retry;
  await changeChat(db, chatId, async (trx, chat) => {
    const row = await requireHeldStep(trx, chat, held);
    await withdrawParts(trx, held, row.has_parts === 1);
    await updateStep(trx, held, { has_parts: 0 });
    const message = toStoredText(retry.message);
    await appendEvents(trx, chatId, [{ type: 'retry', turn, step, attempt, code, message, retryInMs }]);
  });
}
