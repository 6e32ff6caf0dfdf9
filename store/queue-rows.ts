/** The rows of messages that were sent: waiting, claimed by a turn that hasn't taken them yet, taken, or deleted. */
import type { Selectable, Transaction } from 'kysely';
import type { ChatId } from '../contract/ids.ts';
import type { Database } from './database.ts';
import type { QueuedMessageRow, Schema } from './schema.ts';

/** What no turn has taken: those that wait, and the one that a turn has claimed; in the order of their answers. */
export async function listUntaken(trx: Database, chatId: ChatId): Promise<readonly Selectable<QueuedMessageRow>[]> {
  return trx
    .selectFrom('queued_messages')
    .selectAll()
    .where('chat_id', '=', chatId)
    .where('message_id', 'is', null)
    .where('deleted_at', 'is', null)
    .orderBy('position')
    .execute();
}

/** Client message ids in the order in which they will be answered. */
export async function listWaiting(trx: Transaction<Schema>, chatId: ChatId): Promise<readonly string[]> {
  const rows = await listUntaken(trx, chatId);
  return rows.filter(({ turn }) => turn === null).map((row) => row.client_message_id);
}

export async function findQueuedRow(
  trx: Database,
  name: { readonly chatId: ChatId; readonly clientMessageId: string },
): Promise<Selectable<QueuedMessageRow> | undefined> {
  return trx
    .selectFrom('queued_messages')
    .selectAll()
    .where('chat_id', '=', name.chatId)
    .where('client_message_id', '=', name.clientMessageId)
    .executeTakeFirst();
}

export async function updateQueuedRow(
  trx: Transaction<Schema>,
  row: Selectable<QueuedMessageRow>,
  columns: Partial<Pick<QueuedMessageRow, 'turn' | 'position' | 'message_id' | 'deleted_at'>>,
): Promise<void> {
  await trx
    .updateTable('queued_messages')
    .set(columns)
    .where('chat_id', '=', row.chat_id)
    .where('client_message_id', '=', row.client_message_id)
    .execute();
}

/** Before everything that waits; positions only say the order. */
export function frontPosition(untaken: readonly Selectable<QueuedMessageRow>[]): number {
  return Math.min(...untaken.map(({ position }) => position), 1) - 1;
}
