/** The rows of turns, as several files read and write them. */
import type { Selectable, Transaction } from 'kysely';
import type { ChatId } from '../contract/ids.ts';
import type { Database } from './database.ts';
import type { Schema, TurnRow } from './schema.ts';

export interface TurnName {
  readonly chatId: ChatId;
  readonly turn: number;
}

export async function findTurnRow(db: Database, { chatId, turn }: TurnName): Promise<Selectable<TurnRow> | undefined> {
  return db.selectFrom('turns').selectAll().where('chat_id', '=', chatId).where('turn', '=', turn).executeTakeFirst();
}

/** A turn number that is used up without the store having seen the turn. */
export async function insertLostTurn(
  trx: Transaction<Schema>,
  { chatId, turn, epoch }: TurnName & { readonly epoch: number },
): Promise<void> {
  await trx
    .insertInto('turns')
    .values({
      chat_id: chatId,
      turn,
      agent_id: null,
      state: 'failed',
      error_code: 'turn_lost',
      error_message: 'its number was used before, by a turn that the store does not know',
      started_at: null,
      ended_at: new Date().toISOString(),
      epoch,
    })
    .onConflict((conflict) => conflict.columns(['chat_id', 'turn']).doNothing())
    .execute();
}

export async function setLastTurn(trx: Transaction<Schema>, { chatId, turn }: TurnName): Promise<void> {
  await trx
    .updateTable('chats')
    .set({ last_turn: turn })
    .where('id', '=', chatId)
    .where('last_turn', '<', turn)
    .execute();
}
