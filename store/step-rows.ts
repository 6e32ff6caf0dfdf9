/** The rows of steps, as several files read and write them. */
import type { Insertable, Selectable, Transaction } from 'kysely';
import type { Database } from './database.ts';
import type { Schema, StepRow } from './schema.ts';
import type { TurnName } from './turn-rows.ts';

export interface StepName extends TurnName {
  readonly step: number;
}

export async function findStepRow(
  db: Database,
  { chatId, turn, step }: StepName,
): Promise<Selectable<StepRow> | undefined> {
  return db
    .selectFrom('steps')
    .selectAll()
    .where('chat_id', '=', chatId)
    .where('turn', '=', turn)
    .where('step', '=', step)
    .executeTakeFirst();
}

export async function insertStepRow(
  trx: Transaction<Schema>,
  { chatId, turn, step }: StepName,
  columns: Pick<Insertable<StepRow>, 'message_id' | 'nonce' | 'state' | 'attempt_token' | 'attempt_scheduled_ms'>,
): Promise<void> {
  await trx
    .insertInto('steps')
    .values({ chat_id: chatId, turn, step, ...columns, has_parts: 0, usage: null, at: new Date().toISOString() })
    .execute();
}

export async function updateStep(
  trx: Transaction<Schema>,
  { chatId, turn, step }: StepName,
  columns: Partial<StepRow>,
): Promise<void> {
  await trx
    .updateTable('steps')
    .set(columns)
    .where('chat_id', '=', chatId)
    .where('turn', '=', turn)
    .where('step', '=', step)
    .execute();
}
