/** The rows of what was said: a user's message, a step's, a summary. */
import type { Selectable, Transaction } from 'kysely';
import type { ChatId, MessageId } from '../contract/ids.ts';
import type { Database } from './database.ts';
import type { MessageRow, Schema } from './schema.ts';

export interface MessageToInsert {
  readonly chatId: ChatId;
  readonly messageId: MessageId;
  readonly role: MessageRow['role'];
  readonly turn: number;
  /** Of the step that it is the answer of. */
  readonly step?: number;
  /** Of a user's. */
  readonly clientMessageId?: string;
  /** As it is stored. */
  readonly text: string;
}

export async function findMessageRow(
  db: Database,
  { chatId, messageId }: { readonly chatId: ChatId; readonly messageId: number },
): Promise<Selectable<MessageRow> | undefined> {
  return db
    .selectFrom('messages')
    .selectAll()
    .where('chat_id', '=', chatId)
    .where('id', '=', messageId)
    .executeTakeFirst();
}

/** Shown to everybody, and to the model by itself. */
export async function insertMessage(trx: Transaction<Schema>, message: MessageToInsert): Promise<void> {
  await trx
    .insertInto('messages')
    .values({
      chat_id: message.chatId,
      id: message.messageId,
      role: message.role,
      turn: message.turn,
      step: message.step ?? null,
      client_message_id: message.clientMessageId ?? null,
      text: message.text,
      hidden: 0,
      summarized_by: null,
      at: new Date().toISOString(),
    })
    .execute();
}
