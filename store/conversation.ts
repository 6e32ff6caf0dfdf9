import type { Selectable } from 'kysely';
import type { ChatId, MessageId } from '../contract/ids.ts';
import type { ConversationCall, ConversationMessage, NoteMessage, SaidMessage } from '../contract/messages.ts';
import { readCall } from './call-row.ts';
import type { StoredCall } from './call-row.ts';
import { listCallRows } from './calls.ts';
import type { Database } from './database.ts';
import { listNoteRows } from './notes.ts';
import type { MessageRow } from './schema.ts';
import { inSnapshot } from './transaction.ts';

/**
 * A chat as its model sees it: what was said, in order, each assistant message with its calls and the results that they
 * have so far; and what became known later, after the message that was the last one then. What a summary stands for is
 * left out, and the summary comes first; one that an edit has hidden stands for nothing.
 */
export async function loadConversation(db: Database, chatId: ChatId): Promise<readonly ConversationMessage[]> {
  // One snapshot, so that no call is seen without the message that asked for it.
  return inSnapshot(db, async (trx) => {
    const messages = await visibleMessages(trx, chatId);
    // Those of hidden messages between are left out below, which costs less than to ask for each message.
    const fromId = messages.find(({ role }) => role === 'assistant')?.id ?? Number.MAX_SAFE_INTEGER;
    const callRows = await listCallRows(trx, { chatId, fromId });
    const noteRows = await listNoteRows(trx, { chatId });
    const notes = noteRows.map(({ after_message_id: afterMessageId, text }): NoteMessage => {
      return { role: 'note', chatId, afterMessageId, text };
    });
    const visibleIds = new Set(messages.map(({ id }) => id));
    const shown = callRows.filter((row) => visibleIds.has(row.message_id)).map(readCall);
    const callsByMessage = Map.groupBy(shown, (call) => call.messageId);
    const replacedSteps = await countReplacedSteps(trx, chatId, messages);
    const said = messages.map((row): SaidMessage => {
      const id = row.id as MessageId;
      const { turn, text } = row;
      if (row.role === 'user') {
        return { role: 'user', id, chatId, turn, text, clientMessageId: row.client_message_id ?? '' };
      }
      if (row.role === 'summary') return { role: 'summary', id, chatId, turn, text, replacedSteps };
      const calls = (callsByMessage.get(id) ?? []).map(toConversationCall);
      return { role: 'assistant', id, chatId, turn, step: row.step ?? 0, text, calls };
    });
    return withNotes(said, notes);
  });
}

type VisibleMessage = Pick<
  Selectable<MessageRow>,
  'id' | 'role' | 'turn' | 'step' | 'client_message_id' | 'text' | 'summarized_by'
>;

/** The whole conversation before each model call: only the columns that are needed, and no question for each row. */
function visibleMessages(db: Database, chatId: ChatId): Promise<VisibleMessage[]> {
  return db
    .selectFrom('messages')
    .select(['id', 'role', 'turn', 'step', 'client_message_id', 'text', 'summarized_by'])
    .where('chat_id', '=', chatId)
    .where('hidden', '=', 0)
    .where(({ exists, not, or, eb, selectFrom }) =>
      or([
        eb('summarized_by', 'is', null),
        not(
          exists(
            selectFrom('messages as summaries')
              .select('summaries.id')
              .whereRef('summaries.chat_id', '=', 'messages.chat_id')
              .whereRef('summaries.id', '=', 'messages.summarized_by')
              .where('summaries.hidden', '=', 0),
          ),
        ),
      ]),
    )
    .orderBy('id')
    .execute();
}

/** Of the newest turn: what its user's message is answered with so far, and the model does not see any more. */
async function countReplacedSteps(db: Database, chatId: ChatId, visible: readonly VisibleMessage[]): Promise<number> {
  if (!visible.some(({ role }) => role === 'summary')) return 0;
  const turn = visible.findLast(({ role }) => role === 'user')?.turn ?? 0;
  const { steps } = await db
    .selectFrom('messages')
    .select(({ fn }) => fn.countAll().as('steps'))
    .where('chat_id', '=', chatId)
    .where('turn', '=', turn)
    .where('role', '=', 'assistant')
    .where('hidden', '=', 0)
    .executeTakeFirstOrThrow();
  return Number(steps) - visible.filter((row) => row.role === 'assistant' && row.turn === turn).length;
}

function withNotes(said: readonly SaidMessage[], notes: readonly NoteMessage[]): ConversationMessage[] {
  // The usual case, and no work that grows with the conversation.
  if (notes.length === 0 && !said.some(({ role }) => role === 'summary')) return [...said];
  const placed = [
    ...said.map((message) => ({ message, after: message.role === 'summary' ? -1 : message.id - 1 })),
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
