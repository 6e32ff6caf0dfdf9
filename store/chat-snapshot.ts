/**
 * A chat as it is now, told as events: the status first (H01), then what was said, what the model is writing, what
 * waits. All of one moment, together with the cursor after which the events go on (S1).
 */
import type { Selectable, Transaction } from 'kysely';
import type { ChatId, MessageId } from '../contract/ids.ts';
import { readCall, snapshotOf } from './call-row.ts';
import type { StoredCall } from './call-row.ts';
import { hiddenKeys } from './conversation.ts';
import { listUntaken } from './queue-rows.ts';
import type { ChatRow, MessageRow, Schema } from './schema.ts';
import { readParts } from './stream-events.ts';
import type { AskedCall, StreamEventBody } from './stream-events.ts';

export interface ChatSnapshot {
  /** Events up to and including this one are in the snapshot. */
  readonly cursor: number;
  readonly events: readonly StreamEventBody[];
  /** Messages before the first one were left out, as asked; they can be listed. */
  readonly hasEarlier: boolean;
}

/** `messagesMax`: only the newest messages, for a front end that loads earlier ones when it needs them. */
export async function readSnapshot(
  trx: Transaction<Schema>,
  chat: Selectable<ChatRow>,
  options: { readonly messagesMax?: number } = {},
): Promise<ChatSnapshot> {
  const chatId = chat.id as ChatId;
  const found = await readNewestMessages(trx, chatId, options.messagesMax);
  const said = await tellMessages(trx, chatId, found.messages, found.hasEarlier);
  const writing = await tellRunningStep(trx, chat);
  const queued = await tellQueue(trx, chatId);
  return {
    cursor: chat.last_event_seq,
    hasEarlier: found.hasEarlier,
    events: [statusOf(chat), ...said, ...writing, ...queued],
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
  messagesMax: number | undefined,
): Promise<{ messages: Selectable<MessageRow>[]; hasEarlier: boolean }> {
  const query = trx.selectFrom('messages').selectAll().where('chat_id', '=', chatId).where('hidden', '=', 0);
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
  hasEarlier: boolean,
): Promise<StreamEventBody[]> {
  // Of a snapshot without messages no call or note is told either.
  const firstId = hasEarlier ? (messages[0]?.id ?? Number.MAX_SAFE_INTEGER) : 0;
  const rows = await trx
    .selectFrom('calls')
    .selectAll()
    .where('chat_id', '=', chatId)
    .where('message_id', '>=', firstId)
    .orderBy('message_id')
    .orderBy('position')
    .execute();
  const calls = Map.groupBy(rows.map(readCall), ({ messageId }) => messageId);
  const notes = await trx
    .selectFrom('notes')
    .selectAll()
    .where('chat_id', '=', chatId)
    .where('after_message_id', '>=', firstId)
    .where('key', 'not in', (query) => hiddenKeys(query, chatId))
    .orderBy('position')
    .execute();
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

/** What no turn has taken, also the message that the next turn has claimed. */
async function tellQueue(trx: Transaction<Schema>, chatId: ChatId): Promise<StreamEventBody[]> {
  const rows = await listUntaken(trx, chatId);
  return rows.map(({ client_message_id: clientMessageId, position, text }) => {
    return { type: 'queued', clientMessageId, position, text };
  });
}
