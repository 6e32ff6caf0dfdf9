/**
 * A chat as lines of text, read page by page: no snapshot is held open for a reader who may be slow. Each change of a
 * chat appends an event, so equal numbers of events before and after prove that the lines belong together.
 */
import type { Selectable } from 'kysely';
import { CodedError, Refusal } from '../../contract/failures.ts';
import type { ChatId } from '../../contract/ids.ts';
import { listCallRows } from '../calls.ts';
import { findChatRow } from '../chats.ts';
import type { Database } from '../database.ts';
import type { CallRow, ChatRow, MessageRow, StepRow, TurnRow } from '../schema.ts';
import { inSnapshot, readAgain } from '../transaction.ts';
import { ARCHIVE_VERSION, COUNTED_AS, noneCounted } from './format.ts';
import type { ArchiveLine, LineOf } from './format.ts';

/** Results may have tens of kilobytes each. */
const PAGE_MESSAGES = 50;

/** Throws `unknown_chat`, or `chat_busy` while a turn runs: what its calls come to is not known yet. */
export async function* exportChat(db: Database, chatId: ChatId): AsyncGenerator<string, void, void> {
  const chat = await requireQuietChat(db, chatId);
  const counts = noneCounted();
  yield JSON.stringify({
    type: 'latchkey-chat',
    version: ARCHIVE_VERSION,
    exportedAt: new Date().toISOString(),
  } satisfies ArchiveLine);
  yield JSON.stringify(chatLine(chat));
  for await (const line of readLines(db, chatId)) {
    counts[COUNTED_AS[line.type]] += 1;
    yield JSON.stringify(line);
  }
  const after = await requireQuietChat(db, chatId);
  if (after.last_event_seq !== chat.last_event_seq) {
    throw new Refusal('chat_busy', `chat ${chatId} changed while it was exported: try again`);
  }
  yield JSON.stringify({ type: 'end', ...counts } satisfies ArchiveLine);
}

async function requireQuietChat(db: Database, chatId: ChatId): Promise<Selectable<ChatRow>> {
  const chat = await readAgain(() => findChatRow(db, chatId));
  if (chat === undefined) throw new Refusal('unknown_chat', `the store has no chat ${chatId}`, 'chatId');
  if (chat.active_turn === null) return chat;
  throw new Refusal('chat_busy', `turn ${chat.active_turn} of chat ${chatId} is running: it can't be exported yet`);
}

async function* readLines(db: Database, chatId: ChatId): AsyncGenerator<CountedLine, void, void> {
  for (let after = 0; ;) {
    const { messages, calls } = await readPage(db, chatId, after);
    const callsOf = Map.groupBy(calls, (call) => call.message_id);
    for (const row of messages) {
      yield messageLine(row);
      for (const call of callsOf.get(row.id) ?? []) yield callLine(call);
    }
    after = messages.at(-1)?.id ?? after;
    if (messages.length < PAGE_MESSAGES) break;
  }
  const ofChat = { chatId, db };
  for (const { position, after_message_id, key, text, at } of await readNotes(ofChat)) {
    yield { type: 'note', position, afterMessageId: after_message_id, key, text, at };
  }
  for (const row of await readSteps(ofChat)) yield stepLine(row);
  for (const row of await readTurns(ofChat)) yield turnLine(row);
}

type CountedLine = LineOf<keyof typeof COUNTED_AS>;

async function readPage(
  db: Database,
  chatId: ChatId,
  after: number,
): Promise<{ messages: Selectable<MessageRow>[]; calls: Selectable<CallRow>[] }> {
  return inSnapshot(db, async (trx) => {
    const messages = await trx
      .selectFrom('messages')
      .selectAll()
      .where('chat_id', '=', chatId)
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE_MESSAGES)
      .execute();
    const calls = await listCallRows(trx, { chatId, fromId: after + 1, toId: messages.at(-1)?.id ?? after });
    return { messages, calls };
  });
}

interface OfChat {
  readonly db: Database;
  readonly chatId: ChatId;
}

function readNotes({ db, chatId }: OfChat) {
  return readAgain(() =>
    db.selectFrom('notes').selectAll().where('chat_id', '=', chatId).orderBy('position').execute(),
  );
}

function readSteps({ db, chatId }: OfChat) {
  return readAgain(() =>
    db.selectFrom('steps').selectAll().where('chat_id', '=', chatId).orderBy('turn').orderBy('step').execute(),
  );
}

function readTurns({ db, chatId }: OfChat) {
  return readAgain(() => db.selectFrom('turns').selectAll().where('chat_id', '=', chatId).orderBy('turn').execute());
}

function chatLine(row: Selectable<ChatRow>): LineOf<'chat'> {
  return {
    type: 'chat',
    chatId: row.id,
    agentId: row.agent_id,
    title: row.title,
    model: row.model,
    epoch: row.epoch,
    highestMessageId: row.highest_message_id,
    lastTurn: row.last_turn,
    lastError: errorOf(row.last_error_code, row.last_error_message),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
  };
}

function messageLine(row: Selectable<MessageRow>): LineOf<'message'> {
  const { id, role, turn, step, text, hidden, at } = row;
  const { client_message_id: clientMessageId, summarized_by: summarizedBy } = row;
  return { type: 'message', id, role, turn, step, clientMessageId, text, hidden, summarizedBy, at };
}

function callLine(row: Selectable<CallRow>): LineOf<'call'> {
  if (row.result_text === null || row.evidence === null) {
    throw new CodedError('invariant_broken', `call ${row.key} has no result, and no turn of its chat runs`);
  }
  return {
    type: 'call',
    key: row.key,
    messageId: row.message_id,
    turn: row.turn,
    position: row.position,
    toolCallId: row.tool_call_id,
    toolName: row.tool_name,
    arguments: parse(row.arguments) as LineOf<'call'>['arguments'],
    request: parse(row.request) as LineOf<'call'>['request'],
    summary: row.summary,
    agentId: row.agent_id,
    status: row.status as LineOf<'call'>['status'],
    evidence: parse(row.evidence) as LineOf<'call'>['evidence'],
    outcome: parse(row.outcome) as LineOf<'call'>['outcome'],
    result: { text: row.result_text, isError: row.is_error === 1 },
    handle: row.handle,
    exitCode: row.exit_code,
    createdAt: row.created_at,
    resolvedAt: row.resolved_at,
    settledAt: row.settled_at,
  };
}

function stepLine(row: Selectable<StepRow>): LineOf<'step'> {
  const { turn, step, message_id: messageId, at } = row;
  // No turn runs, so one that is called open was left so by a store that went back in time: nobody will commit it.
  const state = row.state === 'committed' ? 'committed' : 'closed';
  return { type: 'step', turn, step, messageId, state, usage: parse(row.usage) as LineOf<'step'>['usage'], at };
}

function turnLine(row: Selectable<TurnRow>): LineOf<'turn'> {
  return {
    type: 'turn',
    turn: row.turn,
    agentId: row.agent_id,
    state: row.state === 'active' ? 'failed' : row.state,
    error: errorOf(row.error_code, row.error_message),
    startedAt: row.started_at,
    endedAt: row.ended_at,
    epoch: row.epoch,
  };
}

function errorOf(code: string | null, message: string | null): { code: string; message: string } | null {
  return code === null ? null : { code, message: message ?? '' };
}

function parse(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
