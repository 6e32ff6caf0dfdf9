/** Chats and the messages that wait in their queues. */
import type { Selectable, Transaction } from 'kysely';
import { Refusal } from '../contract/failures.ts';
import type { AgentId, ChatId, MessageId } from '../contract/ids.ts';
import { USER_MESSAGE_BYTES_MAX } from '../contract/limits.ts';
import { utf8Length } from '../contract/well-formed.ts';
import type { Database } from './database.ts';
import type { ChatRow, Schema } from './schema.ts';
import { toStoredText } from './stored-text.ts';
import { appendEvents } from './stream-events.ts';
import type { TurnError } from './stream-events.ts';
import { changeChat, inTransaction } from './transaction.ts';

const CLIENT_MESSAGE_ID_CHARACTERS_MAX = 200;

export interface Chat {
  readonly chatId: ChatId;
  readonly agentId: AgentId;
  readonly highestMessageId: number;
  readonly activeTurn?: number;
  readonly lastTurn: number;
  readonly lastError?: TurnError;
  readonly createdAt: string;
}

export interface EnqueueUserMessageInput {
  readonly chatId: ChatId;
  readonly clientMessageId: string;
  readonly text: string;
}

export interface EnqueueUserMessageResult {
  readonly position: number;
  /** False when this client message id was here before: nothing changed, also if the text differs. */
  readonly isNew: boolean;
}

/** Idempotent by chat id; a chat that is bound to another agent is refused. */
export async function createChat(db: Database, input: { chatId: ChatId; agentId: AgentId }): Promise<void> {
  const createdAt = new Date().toISOString();
  await inTransaction(db, async (trx) => {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('chats')
      .values({
        id: input.chatId,
        agent_id: input.agentId,
        highest_message_id: 0,
        last_turn: 0,
        last_event_seq: 0,
        events_pruned_through: 0,
        last_queue_position: 0,
        active_turn: null,
        last_error_code: null,
        last_error_message: null,
        created_at: createdAt,
        updated_at: createdAt,
        title: null,
        model: null,
        epoch: 0,
        archived_at: null,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows === 1n) {
      await appendEvents(trx, input.chatId, [{ type: 'status', state: 'idle' }]);
      return;
    }
    const chat = await requireChat(trx, input.chatId);
    if (chat.agent_id === input.agentId) return;
    throw new Refusal('bad_request', `chat ${input.chatId} is bound to agent ${chat.agent_id}`, 'agentId');
  });
}

export async function findChat(db: Database, chatId: ChatId): Promise<Chat | undefined> {
  const row = await findChatRow(db, chatId);
  if (row === undefined) return undefined;
  return {
    chatId,
    agentId: row.agent_id as AgentId,
    highestMessageId: row.highest_message_id,
    lastTurn: row.last_turn,
    createdAt: row.created_at,
    ...(row.active_turn === null ? {} : { activeTurn: row.active_turn }),
    ...(row.last_error_code === null
      ? {}
      : { lastError: { code: row.last_error_code, message: row.last_error_message ?? '' } }),
  };
}

/** Idempotent by client message id (T2). Refused before anything is written: empty, too long, a bad id, no such chat. */
export async function enqueueUserMessage(
  db: Database,
  input: EnqueueUserMessageInput,
): Promise<EnqueueUserMessageResult> {
  refuseBadMessage(input);
  const { chatId, clientMessageId } = input;
  return changeChat(db, chatId, async (trx) => {
    const chat = await requireChat(trx, chatId);
    const earlier = await trx
      .selectFrom('queued_messages')
      .select('position')
      .where('chat_id', '=', chatId)
      .where('client_message_id', '=', clientMessageId)
      .executeTakeFirst();
    if (earlier !== undefined) return { position: earlier.position, isNew: false };
    const position = chat.last_queue_position + 1;
    const text = toStoredText(input.text);
    const at = new Date().toISOString();
    await trx.updateTable('chats').set({ last_queue_position: position }).where('id', '=', chatId).execute();
    await trx
      .insertInto('queued_messages')
      .values({ chat_id: chatId, client_message_id: clientMessageId, position, text, turn: null, at })
      .execute();
    await appendEvents(trx, chatId, [{ type: 'queued', clientMessageId, position, text }]);
    return { position, isNew: true };
  });
}

function refuseBadMessage(input: EnqueueUserMessageInput): void {
  const { clientMessageId, text } = input;
  if (
    clientMessageId === '' ||
    clientMessageId.length > CLIENT_MESSAGE_ID_CHARACTERS_MAX ||
    clientMessageId !== toStoredText(clientMessageId)
  ) {
    throw new Refusal(
      'bad_request',
      `clientMessageId has 1 to ${CLIENT_MESSAGE_ID_CHARACTERS_MAX} characters, no NUL, no lone surrogate`,
      'clientMessageId',
    );
  }
  if (text.trim() === '') throw new Refusal('bad_request', 'the message is empty', 'text');
  const bytes = utf8Length(text);
  if (bytes > USER_MESSAGE_BYTES_MAX) {
    throw new Refusal(
      'body_too_large',
      `the message has ${bytes} bytes; at most ${USER_MESSAGE_BYTES_MAX} are accepted: put long text in a file`,
      'text',
    );
  }
}

export async function findChatRow(db: Database, chatId: ChatId): Promise<Selectable<ChatRow> | undefined> {
  return db.selectFrom('chats').selectAll().where('id', '=', chatId).executeTakeFirst();
}

export async function requireChat(trx: Transaction<Schema>, chatId: ChatId): Promise<Selectable<ChatRow>> {
  const chat = await findChatRow(trx, chatId);
  if (chat !== undefined) return chat;
  throw new Refusal('bad_request', `the store has no chat ${chatId}: create it first`, 'chatId');
}

/** Marks ids up to and including this one as taken; never lowers. */
export async function raiseHighestMessageId(
  trx: Transaction<Schema>,
  chatId: ChatId,
  messageId: MessageId | number,
): Promise<void> {
  await trx
    .updateTable('chats')
    .set({ highest_message_id: messageId })
    .where('id', '=', chatId)
    .where('highest_message_id', '<', messageId)
    .execute();
}
