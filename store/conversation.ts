import type { ChatId, MessageId } from '../contract/ids.ts';
import type { AssistantMessage, ConversationCall, ConversationMessage } from '../contract/messages.ts';
import { readCall } from './call-row.ts';
import type { StoredCall } from './call-row.ts';
import type { Database } from './database.ts';

/** What was said in a chat, in order, each assistant message with its calls and the results that they have so far. */
export async function loadConversation(db: Database, chatId: ChatId): Promise<readonly ConversationMessage[]> {
  // One transaction, so that no call is seen without the message that asked for it.
  return db
    .transaction()
    .setAccessMode('read only')
    .execute(async (trx) => {
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
      const callsByMessage = Map.groupBy(callRows.map(readCall), (call) => call.messageId);
      return messages.map((row): ConversationMessage => {
        const id = row.id as MessageId;
        const { turn, text } = row;
        if (row.role === 'user') {
          return { role: 'user', id, chatId, turn, text, clientMessageId: row.client_message_id ?? '' };
        }
        const calls = (callsByMessage.get(id) ?? []).map(toConversationCall);
        return { role: 'assistant', id, chatId, turn, step: row.step ?? 0, text, calls } satisfies AssistantMessage;
      });
    });
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
