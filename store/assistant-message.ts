import type { Transaction } from 'kysely';
import type { ChatId, MessageId } from '../contract/ids.ts';
import type { Schema } from './schema.ts';

/** Where a step's message belongs. */
export interface MessagePlace {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly step: number;
  readonly messageId: MessageId;
}

export async function insertAssistantMessage(
  trx: Transaction<Schema>,
  place: MessagePlace,
  text: string,
): Promise<void> {
  await trx
    .insertInto('messages')
    .values({
      chat_id: place.chatId,
      id: place.messageId,
      role: 'assistant',
      turn: place.turn,
      step: place.step,
      client_message_id: null,
      text,
      hidden: 0,
      summarized_by: null,
      at: new Date().toISOString(),
    })
    .execute();
}
