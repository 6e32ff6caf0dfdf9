/** What was said in a chat, for people, page by page: ids are the cursor, since they only grow. */
import type { Selectable, Transaction } from 'kysely';
import { Refusal } from '../contract/failures.ts';
import type { ChatId, ExecutionKey, MessageId } from '../contract/ids.ts';
import { MESSAGE_PAGE_MESSAGES_MAX } from '../contract/limits.ts';
import { readCall } from './call-row.ts';
import type { StoredCall } from './call-row.ts';
import { listCallRows } from './calls.ts';
import type { Database } from './database.ts';
import { requireLimit } from './list-chats.ts';
import { listNoteRows } from './notes.ts';
import type { MessageRow, Schema } from './schema.ts';
import { inSnapshot } from './transaction.ts';

export interface ListMessagesInput {
  readonly chatId: ChatId;
  /** The newest ones before this message; with neither, the newest of all. */
  readonly before?: MessageId;
  /** The oldest ones after this message. */
  readonly after?: MessageId;
  readonly limit: number;
}

export interface ListedMessage {
  readonly id: MessageId;
  readonly role: MessageRow['role'];
  readonly turn: number;
  readonly step?: number;
  readonly clientMessageId?: string;
  readonly text: string;
  readonly at: string;
  /** The summary that stands for it before the model. */
  readonly summarizedBy?: MessageId;
  readonly calls: readonly StoredCall[];
  /** What became known after it, before the next message (C3). */
  readonly notes: readonly { readonly key: ExecutionKey; readonly text: string; readonly at: string }[];
}

export interface MessagePage {
  /** Oldest first, without what an edit hid. */
  readonly messages: readonly ListedMessage[];
  /** In the direction that was asked for. */
  readonly hasMore: boolean;
}

export async function listMessages(db: Database, input: ListMessagesInput): Promise<MessagePage> {
  requireLimit(input.limit, MESSAGE_PAGE_MESSAGES_MAX);
  if (input.before !== undefined && input.after !== undefined) {
    throw new Refusal('bad_request', 'before and after exclude each other', 'before');
  }
  return inSnapshot(db, async (trx) => {
    const found = await readRows(trx, input);
    const hasMore = found.length > input.limit;
    const rows = found.slice(0, input.limit);
    if (input.after === undefined) rows.reverse();
    // Where the page's last message ends: what is noted after that belongs to the page that follows.
    const end = input.after === undefined ? input.before : (found[input.limit]?.id as MessageId | undefined);
    return { messages: await complete(trx, input.chatId, rows, end), hasMore };
  });
}

async function readRows(trx: Transaction<Schema>, input: ListMessagesInput): Promise<Selectable<MessageRow>[]> {
  let query = trx.selectFrom('messages').selectAll().where('chat_id', '=', input.chatId).where('hidden', '=', 0);
  if (input.before !== undefined) query = query.where('id', '<', input.before);
  if (input.after !== undefined) query = query.where('id', '>', input.after);
  return query
    .orderBy('id', input.after === undefined ? 'desc' : 'asc')
    .limit(input.limit + 1)
    .execute();
}

async function complete(
  trx: Transaction<Schema>,
  chatId: ChatId,
  rows: readonly Selectable<MessageRow>[],
  end: MessageId | undefined,
): Promise<ListedMessage[]> {
  const [first, last] = [rows[0]?.id, rows.at(-1)?.id];
  if (first === undefined || last === undefined) return [];
  const callRows = await listCallRows(trx, { chatId, fromId: first, toId: last });
  const noteRows = await listNoteRows(trx, { chatId, fromId: first, ...(end !== undefined && { beforeId: end }) });
  const calls = Map.groupBy(callRows.map(readCall), ({ messageId }) => messageId);
  // A note may stand after an id that became no message, or a hidden one: it is told with the message before that.
  const notes = Map.groupBy(noteRows, (note) => rows.findLast(({ id }) => id <= note.after_message_id)?.id);
  return rows.map((row) => ({
    id: row.id as MessageId,
    role: row.role,
    turn: row.turn,
    text: row.text,
    at: row.at,
    calls: calls.get(row.id as MessageId) ?? [],
    notes: (notes.get(row.id) ?? []).map(({ key, text, at }) => ({ key: key as ExecutionKey, text, at })),
    ...(row.step === null ? {} : { step: row.step }),
    ...(row.client_message_id === null ? {} : { clientMessageId: row.client_message_id }),
    ...(row.summarized_by === null ? {} : { summarizedBy: row.summarized_by as MessageId }),
  }));
}
