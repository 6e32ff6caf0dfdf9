/** Closing steps that were never committed, and taking back what their attempts had shown (F9, H04). */
import type { Transaction } from 'kysely';
import type { Schema } from './schema.ts';
import type { StepName } from './step-rows.ts';
import { appendEvents, dropParts } from './stream-events.ts';
import type { TurnName } from './turn-rows.ts';

/** Takes back the parts of a step's attempt, if any were shown. */
export async function withdrawParts(
  trx: Transaction<Schema>,
  { chatId, turn, step }: StepName,
  hasParts: boolean,
): Promise<void> {
  if (!hasParts) return;
  await dropParts(trx, { chatId, turn, step });
  await appendEvents(trx, chatId, [{ type: 'withdrawn', turn, step }]);
}

/** Closes what an ended turn left open, so that no late attempt can commit into it. */
export async function withdrawOpenSteps(trx: Transaction<Schema>, { chatId, turn }: TurnName): Promise<void> {
  const open = await trx
    .updateTable('steps')
    .set({ state: 'closed', attempt_token: null })
    .where('chat_id', '=', chatId)
    .where('turn', '=', turn)
    .where('state', '=', 'open')
    .returning(['step', 'has_parts'])
    .execute();
  for (const { step, has_parts: hasParts } of open) await withdrawParts(trx, { chatId, turn, step }, hasParts === 1);
}
