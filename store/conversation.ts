import type { ExpressionBuilder } from 'kysely';
import type { ChatId, MessageId } from '../contract/ids.ts';
import type { ConversationCall, ConversationMessage, NoteMessage } from '../contract/messages.ts';
import { readCall } from './call-row.ts';
import type { StoredCall } from './call-row.ts';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';
import { inSnapshot } from './transaction.ts';

/**
 * What was said in a chat, in order, each assistant message with its calls and the results that they have so far; and
 * what became known later, after the message that was the last one then.
 */
export async function loadConversation(db: Database, chatId: ChatId): Promise<readonly ConversationMessage[]> {
  // One snapshot, so that no call is seen without the message that asked for it.
  return inSnapshot(db, async (trx) => {
    const messages = await trx
      .selectFrom('messages')
      .selectAll()
      .where('chat_id', '=', chatId)
      .where('hidden', '=', 0)
      .orderBy('id')
      .execute();
    const callRows = await trx
      .selectFrom('calls')
      .selectAll()
      .where('chat_id', '=', chatId)
      .orderBy('message_id')
      .orderBy('position')
      .execute();
    const notes = (
      await trx
        .selectFrom('notes')
        .selectAll()
        .where('chat_id', '=', chatId)
        .where('key', 'not in', (query) => hiddenKeys(query, chatId))
        .orderBy('position')
        .execute()
    ).map(({ after_message_id: afterMessageId, text }): NoteMessage => ({
      role: 'note',
      chatId,
      afterMessageId,
      text,
    }));
    const callsByMessage = Map.groupBy(callRows.map(readCall), (call) => call.messageId);
    const said = messages.map((row): SaidMessage => {
      const id = row.id as MessageId;
      const { turn, text } = row;
      if (row.role === 'user') {
        return { role: 'user', id, chatId, turn, text, clientMessageId: row.client_message_id ?? '' };
      }
      const calls = (callsByMessage.get(id) ?? []).map(toConversationCall);
      return { role: 'assistant', id, chatId, turn, step: row.step ?? 0, text, calls };
    });
    return withNotes(said, notes);
  });
}

/** Of calls that an edit has hidden: nobody is told of them any more. */
export function hiddenKeys(query: ExpressionBuilder<Schema, 'notes'>, chatId: ChatId) {
  return query
    .selectFrom('calls')
    .innerJoin('messages', (join) =>
      join.onRef('messages.chat_id', '=', 'calls.chat_id').onRef('messages.id', '=', 'calls.message_id'),
    )
    .select('calls.key')
    .where('calls.chat_id', '=', chatId)
    .where('messages.hidden', '>', 0);
}

type SaidMessage = Exclude<ConversationMessage, NoteMessage>;

function withNotes(said: readonly SaidMessage[], notes: readonly NoteMessage[]): ConversationMessage[] {
  const placed = [
    ...said.map((message) => ({ message, after: message.id - 1 })),
    // After the message itself, before the next one: ids are whole numbers.
    ...notes.map((message) => ({ message, after: message.afterMessageId - 0.5 })),
  ];
  return placed.toSorted((a, b) => a.after - b.after).map(({ message }) => message);
}

function toConversationCall(call: StoredCall): ConversationCall {
  const { key, toolCallId, toolName, status } = call;
  return {
    key,
    toolCallId,
    toolName,
    status,
    arguments: call.arguments,
    ...(call.result === undefined ? {} : { result: call.result }),
  };
}
