/** Chats: made, bound to an agent and a model, archived. What waits in them is in `queue.ts`. */
import type { Selectable, Transaction } from 'kysely';
import type { ArchiveChatInput, BindChatInput, ChatFacts } from '../contract/chat-activities.ts';
import { Refusal } from '../contract/failures.ts';
import type { AgentId, ChatId, MessageId } from '../contract/ids.ts';
import type { Database } from './database.ts';
import { listWaiting } from './queue-rows.ts';
import type { ChatRow, Schema } from './schema.ts';
import { toStoredText } from './stored-text.ts';
import { appendEvents } from './stream-events.ts';
import type { StreamEventBody, TurnError } from './stream-events.ts';
import { changeChat, inTransaction } from './transaction.ts';

export interface Chat {
  readonly chatId: ChatId;
  readonly agentId: AgentId;
  readonly model?: string;
  readonly title?: string;
  readonly epoch: number;
  readonly isArchived: boolean;
  readonly highestMessageId: number;
  readonly activeTurn?: number;
  readonly lastTurn: number;
  readonly lastError?: TurnError;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface CreateChatInput {
  readonly chatId: ChatId;
  readonly agentId: AgentId;
  readonly model?: string;
}

/** Idempotent by chat id; a chat that is bound to another agent is refused. */
export async function createChat(db: Database, input: CreateChatInput): Promise<void> {
  await inTransaction(db, async (trx) => {
    const chat = await ensureChat(trx, input);
    if (chat.agent_id === input.agentId) return;
    throw new Refusal('bad_request', `chat ${input.chatId} is bound to agent ${chat.agent_id}`, 'agentId');
  });
}

/** The chat's row, made if it isn't there. */
export async function ensureChat(trx: Transaction<Schema>, input: CreateChatInput): Promise<Selectable<ChatRow>> {
  const createdAt = new Date().toISOString();
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
      model: input.model ?? null,
      epoch: 0,
      archived_at: null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 1n) await appendEvents(trx, input.chatId, [{ type: 'status', state: 'idle' }]);
  return requireChat(await findChatRow(trx, input.chatId), input.chatId);
}

export async function findChat(db: Database, chatId: ChatId): Promise<Chat | undefined> {
  const row = await findChatRow(db, chatId);
  if (row === undefined) return undefined;
  return {
    chatId,
    agentId: row.agent_id as AgentId,
    epoch: row.epoch,
    isArchived: row.archived_at !== null,
    highestMessageId: row.highest_message_id,
    lastTurn: row.last_turn,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.model === null ? {} : { model: row.model }),
    ...(row.title === null ? {} : { title: row.title }),
    ...(row.active_turn === null ? {} : { activeTurn: row.active_turn }),
    ...(row.last_error_code === null
      ? {}
      : { lastError: { code: row.last_error_code, message: row.last_error_message ?? '' } }),
  };
}

/** From the next turn on; a running turn and its calls stay where they are (E12). */
export async function bindChat(db: Database, { chatId, agentId, model }: BindChatInput): Promise<ChatFacts> {
  return changeKnownChat(db, chatId, async (trx, chat) => {
    const bound = { agent_id: agentId ?? chat.agent_id, model: model === undefined ? chat.model : toStoredText(model) };
    if (bound.agent_id === chat.agent_id && bound.model === chat.model) return readFacts(trx, chat);
    return readFacts(trx, await setChat(trx, chat, bound));
  });
}

/** Refusal `chat_busy` while a turn runs or messages wait. */
export async function archiveChat(db: Database, { chatId, isArchived }: ArchiveChatInput): Promise<ChatFacts> {
  return changeKnownChat(db, chatId, async (trx, chat) => {
    if (isArchived === (chat.archived_at !== null)) return readFacts(trx, chat);
    if (isArchived) await requireQuietChat(trx, chat);
    const archivedAt = isArchived ? new Date().toISOString() : null;
    return readFacts(trx, await setChat(trx, chat, { archived_at: archivedAt }));
  });
}

async function requireQuietChat(trx: Transaction<Schema>, chat: Selectable<ChatRow>): Promise<void> {
  const chatId = chat.id as ChatId;
  if (chat.active_turn !== null) {
    throw new Refusal('chat_busy', `turn ${chat.active_turn} of chat ${chatId} is running`);
  }
  const { length: waiting } = await listWaiting(trx, chatId);
  if (waiting > 0) throw new Refusal('chat_busy', `messages wait in chat ${chatId}: ${waiting}`);
}

/** Changes columns that watchers are told of, and tells them; returns the row with them. */
export async function setChat(
  trx: Transaction<Schema>,
  chat: Selectable<ChatRow>,
  columns: Partial<Pick<ChatRow, 'agent_id' | 'model' | 'archived_at' | 'title' | 'epoch' | 'updated_at'>>,
): Promise<Selectable<ChatRow>> {
  const changed = { ...chat, ...columns };
  await trx.updateTable('chats').set(columns).where('id', '=', chat.id).execute();
  await appendEvents(trx, chat.id as ChatId, [chatEvent(changed)]);
  return changed;
}

/** What is known of the chat itself. */
export function chatEvent(chat: Selectable<ChatRow>): StreamEventBody {
  return {
    type: 'chat',
    agentId: chat.agent_id as AgentId,
    epoch: chat.epoch,
    isArchived: chat.archived_at !== null,
    ...(chat.model === null ? {} : { model: chat.model }),
    ...(chat.title === null ? {} : { title: chat.title }),
  };
}

export async function readFacts(trx: Transaction<Schema>, chat: Selectable<ChatRow>): Promise<ChatFacts> {
  return {
    agentId: chat.agent_id as AgentId,
    epoch: chat.epoch,
    isArchived: chat.archived_at !== null,
    queue: await listWaiting(trx, chat.id as ChatId),
    ...(chat.model === null ? {} : { model: chat.model }),
  };
}

/** Shows that the running turn is being stopped; nothing if it has ended meanwhile. */
export async function noteInterrupting(db: Database, input: { chatId: ChatId; turn: number }): Promise<void> {
  const { chatId, turn } = input;
  await changeKnownChat(db, chatId, async (trx, chat) => {
    if (chat.active_turn !== turn) return;
    await appendEvents(trx, chatId, [{ type: 'status', state: 'interrupting', turn }]);
  });
}

export async function findChatRow(db: Database, chatId: ChatId): Promise<Selectable<ChatRow> | undefined> {
  return db.selectFrom('chats').selectAll().where('id', '=', chatId).executeTakeFirst();
}

/** `changeChat` for a chat that must be there: refusal `unknown_chat` where it isn't. */
export async function changeKnownChat<Result>(
  db: Database,
  chatId: ChatId,
  change: (trx: Transaction<Schema>, chat: Selectable<ChatRow>) => Promise<Result>,
): Promise<Result> {
  return changeChat(db, chatId, (trx, chat) => change(trx, requireChat(chat, chatId)));
}

export function requireChat(chat: Selectable<ChatRow> | undefined, chatId: ChatId): Selectable<ChatRow> {
  if (chat !== undefined) return chat;
  throw new Refusal('unknown_chat', `the store has no chat ${chatId}: create it first`, 'chatId');
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
