/** What became known of calls after their results (C3), as the model and people read it. */
import type { ExpressionBuilder, Selectable, Transaction } from 'kysely';
import type { ChatId, ExecutionKey } from '../contract/ids.ts';
import type { Database } from './database.ts';
import type { ChatRow, NoteRow, Schema } from './schema.ts';
import { toStoredText } from './stored-text.ts';
import { appendEvents } from './stream-events.ts';

export interface NoteRange {
  readonly chatId: ChatId;
  /** The first message that they may stand after. */
  readonly fromId?: number;
  /** The first message that they may not stand after. */
  readonly beforeId?: number;
}

/** In the order in which they became known; none of a call that an edit has hidden. */
export async function listNoteRows(
  db: Database,
  { chatId, fromId, beforeId }: NoteRange,
): Promise<Selectable<NoteRow>[]> {
  let query = db.selectFrom('notes').selectAll().where('chat_id', '=', chatId);
  if (fromId !== undefined) query = query.where('after_message_id', '>=', fromId);
  if (beforeId !== undefined) query = query.where('after_message_id', '<', beforeId);
  return query
    .where('key', 'not in', (notes) => hiddenKeys(notes, chatId))
    .orderBy('position')
    .execute();
}

/** Of calls that an edit has hidden: nobody is told of them any more. */
function hiddenKeys(query: ExpressionBuilder<Schema, 'notes'>, chatId: ChatId) {
  return query
    .selectFrom('calls')
    .innerJoin('messages', (join) =>
      join.onRef('messages.chat_id', '=', 'calls.chat_id').onRef('messages.id', '=', 'calls.message_id'),
    )
    .select('calls.key')
    .where('calls.chat_id', '=', chatId)
    .where('messages.hidden', '>', 0);
}

export async function addNote(
  trx: Transaction<Schema>,
  chat: Selectable<ChatRow>,
  note: { readonly key: ExecutionKey; readonly text: string },
): Promise<void> {
  const chatId = chat.id as ChatId;
  const { key } = note;
  const text = toStoredText(note.text);
  await trx
    .insertInto('notes')
    .values({
      chat_id: chatId,
      position: await nextPosition(trx, chatId),
      // The ids of a step that is being generated are taken, so the note stands after what can't have known of it.
      after_message_id: chat.highest_message_id,
      key,
      text,
      at: new Date().toISOString(),
    })
    .execute();
  await appendEvents(trx, chatId, [{ type: 'note', key, text }]);
}

async function nextPosition(trx: Transaction<Schema>, chatId: ChatId): Promise<number> {
  const last = await trx
    .selectFrom('notes')
    .select('position')
    .where('chat_id', '=', chatId)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return (last?.position ?? 0) + 1;
}
