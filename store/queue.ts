/** The messages that wait in a chat: sent, put in another order, taken back (T2). */
import type { Selectable, Transaction } from 'kysely';
import type {
  ChatFacts,
  EnqueueMessageInput,
  EnqueueMessageResult,
  QueuedMessageName,
} from '../contract/chat-activities.ts';
import { Refusal } from '../contract/failures.ts';
import type { ChatId } from '../contract/ids.ts';
import { QUEUED_MESSAGES_MAX, TITLE_CHARACTERS_MAX } from '../contract/limits.ts';
import { requireUserMessage } from '../contract/user-message.ts';
import { firstLine } from '../contract/well-formed.ts';
import { changeKnownChat, readFacts, setChat } from './chats.ts';
import type { Database } from './database.ts';
import { findQueuedRow, frontPosition, listUntaken, listWaiting, updateQueuedRow } from './queue-rows.ts';
import type { ChatRow, QueuedMessageRow, Schema } from './schema.ts';
import { toStoredText } from './stored-text.ts';
import { appendEvents } from './stream-events.ts';

export type EnqueueUserMessageInput = Omit<EnqueueMessageInput, 'place'> & Partial<Pick<EnqueueMessageInput, 'place'>>;

export interface EnqueueUserMessageResult extends EnqueueMessageResult {
  readonly position: number;
}

/**
 * Idempotent by client message id (T2): one that was here before, also one that was deleted, changes nothing. Refused
 * before anything is written: empty, too long, a bad id, no such chat, an archived one, a full queue.
 */
export async function enqueueUserMessage(
  db: Database,
  input: EnqueueUserMessageInput,
): Promise<EnqueueUserMessageResult> {
  requireUserMessage(input);
  return changeKnownChat(db, input.chatId, async (trx, chat) => {
    const earlier = await findQueuedRow(trx, input);
    if (earlier !== undefined) return { ...(await readFacts(trx, chat)), ...readEnqueued(earlier), isNew: false };
    requireOpen(chat);
    const { length: waiting } = await listWaiting(trx, input.chatId);
    if (waiting >= QUEUED_MESSAGES_MAX) {
      throw new Refusal('queue_full', `${waiting} messages wait in chat ${input.chatId}; no more are accepted`);
    }
    const position = await insertQueued(trx, chat, { ...input, editEpoch: null });
    return { ...(await readFacts(trx, chat)), position, isNew: true };
  });
}

export interface QueuedMessage {
  /** The turn that it was given to; undefined while it waits. */
  readonly turn?: number;
  readonly isDeleted: boolean;
}

export async function findQueuedMessage(db: Database, name: QueuedMessageName): Promise<QueuedMessage | undefined> {
  const row = await findQueuedRow(db, name);
  if (row === undefined) return undefined;
  return { isDeleted: row.deleted_at !== null, ...(row.turn === null ? {} : { turn: row.turn }) };
}

export function requireOpen(chat: Selectable<ChatRow>): void {
  if (chat.archived_at === null) return;
  throw new Refusal('chat_archived', `chat ${chat.id} is archived`);
}

function readEnqueued({ position, turn }: Selectable<QueuedMessageRow>): { position: number; turn?: number } {
  return { position, ...(turn === null ? {} : { turn }) };
}

/** Puts a message into the queue, and gives a chat that has no title its first line; returns its position. */
export async function insertQueued(
  trx: Transaction<Schema>,
  chat: Selectable<ChatRow>,
  input: EnqueueUserMessageInput & { readonly editEpoch: number | null },
): Promise<number> {
  const { chatId, clientMessageId, place = 'back', editEpoch } = input;
  const isFront = place === 'front';
  const position = isFront ? frontPosition(await listUntaken(trx, chatId)) : chat.last_queue_position + 1;
  const text = toStoredText(input.text);
  const at = new Date().toISOString();
  const last = isFront ? {} : { last_queue_position: position };
  await trx
    .updateTable('chats')
    .set({ updated_at: at, ...last })
    .where('id', '=', chatId)
    .execute();
  await trx
    .insertInto('queued_messages')
    .values({
      chat_id: chatId,
      client_message_id: clientMessageId,
      position,
      text,
      turn: null,
      at,
      message_id: null,
      deleted_at: null,
      edit_epoch: editEpoch,
    })
    .execute();
  await appendEvents(trx, chatId, [{ type: 'queued', clientMessageId, position, text }]);
  if (isFront) await tellQueue(trx, chatId);
  if (chat.title === null) await setChat(trx, chat, { title: firstLine(text, TITLE_CHARACTERS_MAX) });
  return position;
}

/** Refusal `unknown_message` when it isn't there; the same, in other words, when a turn has taken it. */
export async function deleteQueued(db: Database, input: QueuedMessageName): Promise<ChatFacts> {
  return changeKnownChat(db, input.chatId, async (trx, chat) => {
    const row = await findQueuedRow(trx, input);
    // Deleted before: whoever asks again wants what is.
    if (row !== undefined && row.deleted_at !== null) return readFacts(trx, chat);
    await updateQueuedRow(trx, requireWaiting(row, input), { deleted_at: new Date().toISOString() });
    await tellQueue(trx, input.chatId);
    return readFacts(trx, chat);
  });
}

/** To the front: it is answered next. */
export async function promoteQueued(db: Database, input: QueuedMessageName): Promise<ChatFacts> {
  return changeKnownChat(db, input.chatId, async (trx, chat) => {
    const row = requireWaiting(await findQueuedRow(trx, input), input);
    const untaken = await listUntaken(trx, input.chatId);
    const [first] = untaken.filter(({ turn }) => turn === null);
    if (first?.client_message_id === row.client_message_id) return readFacts(trx, chat);
    await updateQueuedRow(trx, row, { position: frontPosition(untaken) });
    await tellQueue(trx, input.chatId);
    return readFacts(trx, chat);
  });
}

function requireWaiting(
  row: Selectable<QueuedMessageRow> | undefined,
  { chatId, clientMessageId }: QueuedMessageName,
): Selectable<QueuedMessageRow> {
  if (row === undefined || row.deleted_at !== null) {
    throw new Refusal('unknown_message', `no message ${clientMessageId} waits in chat ${chatId}`, 'clientMessageId');
  }
  if (row.turn === null) return row;
  throw new Refusal(
    'unknown_message',
    `message ${clientMessageId} does not wait any more: turn ${row.turn} has taken it`,
    'clientMessageId',
  );
}

async function tellQueue(trx: Transaction<Schema>, chatId: ChatId): Promise<void> {
  await appendEvents(trx, chatId, [{ type: 'queue', queue: await listWaiting(trx, chatId) }]);
}
