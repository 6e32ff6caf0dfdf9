/**
 * A chat as it is now, told as events: the status first (H01), then what was said, what the model is writing, what
 * waits. All of one moment, together with the cursor after which the events go on (S1).
 */
import type { Selectable, Transaction } from 'kysely';
import type { ChatId, MessageId } from '../contract/ids.ts';
import type { Database } from './database.ts';
import { readCall, snapshotOf } from './call-row.ts';
import type { StoredCall } from './call-row.ts';
import { listCallRows } from './calls.ts';
import { chatEvent } from './chats.ts';
import { listNoteRows } from './notes.ts';
import { listUntaken } from './queue-rows.ts';
import type { ChatRow, MessageRow, Schema } from './schema.ts';
import { readParts } from './stream-events.ts';
import type { AskedCall, StreamEventBody } from './stream-events.ts';
import { findTurnRow } from './turn-rows.ts';
import type { TurnName } from './turn-rows.ts';

export interface ChatSnapshot {
  /** Events up to and including this one are in the snapshot. */
  readonly cursor: number;
  readonly events: readonly StreamEventBody[];
  /** Messages before the first one were left out, as asked; they can be listed. */
  readonly hasEarlier: boolean;
}

export interface SnapshotScope {
  /** Only the newest messages, for a front end that loads earlier ones when it needs them. */
  readonly messagesMax?: number;
  /** Only what was said in this turn, or in the running one; with the turn's end where it has ended. */
  readonly turn?: number | 'running';
}

export async function readSnapshot(
  trx: Transaction<Schema>,
  chat: Selectable<ChatRow>,
  scope: SnapshotScope = {},
): Promise<ChatSnapshot> {
  const chatId = chat.id as ChatId;
  const turn = scope.turn === 'running' ? (chat.active_turn ?? 0) : scope.turn;
  const found = await readNewestMessages(trx, chatId, { ...scope, turn });
  const isPart = found.hasEarlier || turn !== undefined;
  const said = await tellMessages(trx, chatId, found.messages, isPart);
  const ended = turn === undefined ? [] : await tellTurnEnd(trx, { chatId, turn });
  const writing = await tellRunningStep(trx, chat);
  const queued = await tellQueue(trx, chatId);
  return {
    cursor: chat.last_event_seq,
    hasEarlier: found.hasEarlier,
    events: [statusOf(chat), chatEvent(chat), ...said, ...writing, ...ended, ...queued],
  };
}

function statusOf(chat: Selectable<ChatRow>): StreamEventBody {
  if (chat.active_turn !== null) return { type: 'status', state: 'running', turn: chat.active_turn };
  if (chat.last_error_code === null) return { type: 'status', state: 'idle' };
  const error = { code: chat.last_error_code, message: chat.last_error_message ?? '' };
  return { type: 'status', state: 'idle', error };
}

async function readNewestMessages(
  trx: Transaction<Schema>,
  chatId: ChatId,
  { messagesMax, turn }: { readonly messagesMax?: number; readonly turn: number | undefined },
): Promise<{ messages: Selectable<MessageRow>[]; hasEarlier: boolean }> {
  let query = trx.selectFrom('messages').selectAll().where('chat_id', '=', chatId).where('hidden', '=', 0);
  if (turn !== undefined) query = query.where('turn', '=', turn);
  if (messagesMax === undefined) return { messages: await query.orderBy('id').execute(), hasEarlier: false };
  const newest = await query
    .orderBy('id', 'desc')
    .limit(messagesMax + 1)
    .execute();
  return { messages: newest.slice(0, messagesMax).toReversed(), hasEarlier: newest.length > messagesMax };
}

async function tellMessages(
  trx: Transaction<Schema>,
  chatId: ChatId,
  messages: readonly Selectable<MessageRow>[],
  isPart: boolean,
): Promise<StreamEventBody[]> {
  // Of a snapshot without messages no call or note is told either.
  const firstId = isPart ? (messages[0]?.id ?? Number.MAX_SAFE_INTEGER) : 0;
  const rows = await listCallRows(trx, { chatId, fromId: firstId });
  const calls = Map.groupBy(rows.map(readCall), ({ messageId }) => messageId);
  const notes = await listNoteRows(trx, { chatId, fromId: firstId });
  const counts = await countReplaced(trx, chatId, messages);
  const tell = (row: Selectable<MessageRow>): StreamEventBody => {
    const id = row.id as MessageId;
    const { turn, text } = row;
    if (row.role !== 'summary') return tellMessage(row, calls.get(id) ?? []);
    return { type: 'message', role: 'summary', id, turn, text, messageCount: counts.get(id) ?? 0 };
  };
  const placed = [
    ...messages.map((row) => ({ place: row.id, event: tell(row) })),
    // After its message and before the next one: ids are whole numbers.
    ...notes.map(({ after_message_id: after, key, text }) => ({
      place: after + 0.5,
      event: { type: 'note', key, text } as StreamEventBody,
    })),
  ];
  return placed.toSorted((a, b) => a.place - b.place).map(({ event }) => event);
}

function tellMessage(row: Selectable<MessageRow>, calls: readonly StoredCall[]): StreamEventBody {
  const id = row.id as MessageId;
  const { turn, text } = row;
  if (row.role === 'user') {
    return { type: 'message', role: 'user', id, turn, clientMessageId: row.client_message_id ?? '', text };
  }
  return { type: 'message', role: 'assistant', id, turn, step: row.step ?? 0, text, calls: calls.map(askedCallOf) };
}

/** How many messages each summary stands for. */
async function countReplaced(
  trx: Transaction<Schema>,
  chatId: ChatId,
  messages: readonly Selectable<MessageRow>[],
): Promise<ReadonlyMap<number, number>> {
  if (!messages.some(({ role }) => role === 'summary')) return new Map();
  const rows = await trx
    .selectFrom('messages')
    .select(({ fn }) => ['summarized_by', fn.countAll().as('count')])
    .where('chat_id', '=', chatId)
    .where('summarized_by', 'is not', null)
    .groupBy('summarized_by')
    .execute();
  return new Map(rows.map(({ summarized_by: id, count }) => [id ?? 0, Number(count)]));
}

/** A call with what was asked: the arguments are told once, with its message. */
export function askedCallOf(call: StoredCall): AskedCall {
  return { ...snapshotOf(call), arguments: call.arguments };
}

/** What the model is writing, as one part; or what it is waited for. */
async function tellRunningStep(trx: Transaction<Schema>, chat: Selectable<ChatRow>): Promise<StreamEventBody[]> {
  if (chat.active_turn === null) return [];
  const chatId = chat.id as ChatId;
  const turn = chat.active_turn;
  const open = await trx
    .selectFrom('steps')
    .selectAll()
    .where('chat_id', '=', chatId)
    .where('turn', '=', turn)
    .where('state', '=', 'open')
    .orderBy('step', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (open === undefined) return [];
  const { step } = open;
  if (open.has_parts === 1 && open.message_id !== null) {
    const text = await readParts(trx, { chatId, turn, step });
    return [{ type: 'part', turn, step, messageId: open.message_id as MessageId, text }];
  }
  const last = await trx
    .selectFrom('stream_events')
    .select(['type', 'payload'])
    .where('chat_id', '=', chatId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  // Anything that came after has put an end to the wait.
  if (last?.type !== 'retry' && last?.type !== 'compaction') return [];
  return [{ type: last.type, ...(JSON.parse(last.payload) as object) } as StreamEventBody];
}

async function tellTurnEnd(trx: Transaction<Schema>, { chatId, turn }: TurnName): Promise<StreamEventBody[]> {
  const row = await findTurnRow(trx, { chatId, turn });
  if (row === undefined || row.state === 'active') return [];
  const error = row.error_code === null ? {} : { error: { code: row.error_code, message: row.error_message ?? '' } };
  return [{ type: 'turn', turn, state: row.state, ...error }];
}

async function tellQueue(trx: Transaction<Schema>, chatId: ChatId): Promise<StreamEventBody[]> {
  return (await listQueued(trx, chatId)).map((queued) => ({ type: 'queued', ...queued }));
}

export interface WaitingMessage {
  readonly clientMessageId: string;
  readonly position: number;
  readonly text: string;
}

/** What no turn has taken, also the message that the next turn has claimed; in the order of their answers. */
export async function listQueued(db: Database, chatId: ChatId): Promise<readonly WaitingMessage[]> {
  const rows = await listUntaken(db, chatId);
  return rows.map(({ client_message_id: clientMessageId, position, text }) => {
    return { clientMessageId, position, text };
  });
}
