/**
 * An exported chat as a new one. Ids, keys and results stay as they were, but its calls are history: without targets,
 * under nonces of their own, so that nothing that is done with the copy reaches the processes of the original (K5).
 */
import { randomUUID } from 'node:crypto';
import type { Insertable, Transaction } from 'kysely';
import { Refusal } from '../../contract/failures.ts';
import type { AgentId, ChatId } from '../../contract/ids.ts';
import type { Database } from '../database.ts';
import type { Schema } from '../schema.ts';
import { appendEvents } from '../stream-events.ts';
import { inTransaction } from '../transaction.ts';
import { COUNTED_AS, noneCounted } from './format.ts';
import type { ArchiveCounts, ArchiveLine, LineOf } from './format.ts';
import { readArchive } from './read-archive.ts';

export interface ImportChatInput {
  /** Nobody's yet. */
  readonly chatId: ChatId;
  /** Where its next commands go; default: where the original's went. */
  readonly agentId?: AgentId;
  /** The lines from the first on; asked for again for each reading of them. */
  readonly lines: () => AsyncIterable<string>;
}

export interface ImportedChat extends ArchiveCounts {
  readonly chatId: ChatId;
  readonly agentId: string;
}

/** All of it or nothing. Throws `bad_request`: for a bad file with its line and field, for a chat id that is taken. */
export async function importChat(db: Database, input: ImportChatInput): Promise<ImportedChat> {
  // Read once before anything is written: a bad file costs no transaction, and a slow one holds none open.
  for await (const _ of readArchive(input.lines()));
  return inTransaction(db, (trx) => writeChat(trx, input));
}

async function writeChat(trx: Transaction<Schema>, input: ImportChatInput): Promise<ImportedChat> {
  const { chatId } = input;
  const writer = new RowWriter(trx);
  const counts = noneCounted();
  let agentId = '';
  for await (const line of readArchive(input.lines())) {
    if (line.type in COUNTED_AS) counts[COUNTED_AS[line.type as keyof typeof COUNTED_AS]] += 1;
    if (line.type !== 'chat') await writeLine(writer, chatId, line);
    else {
      agentId = input.agentId ?? line.agentId;
      await insertChat(trx, { chatId, agentId, line });
    }
  }
  await writer.flush();
  await appendEvents(trx, chatId, [{ type: 'status', state: 'idle' }]);
  // Nothing of it was told by events: whoever comes with a cursor from before gets all of it as a snapshot.
  await trx.updateTable('chats').set({ events_pruned_through: 1 }).where('id', '=', chatId).execute();
  return { chatId, agentId, ...counts };
}

async function insertChat(
  trx: Transaction<Schema>,
  { chatId, agentId, line }: { chatId: ChatId; agentId: string; line: LineOf<'chat'> },
): Promise<void> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('chats')
    .values({
      id: chatId,
      agent_id: agentId,
      highest_message_id: line.highestMessageId,
      active_turn: null,
      last_turn: line.lastTurn,
      last_error_code: line.lastError?.code ?? null,
      last_error_message: line.lastError?.message ?? null,
      last_event_seq: 0,
      events_pruned_through: 0,
      last_queue_position: 0,
      created_at: line.createdAt,
      title: line.title,
      model: line.model,
      epoch: line.epoch,
      archived_at: line.archivedAt,
      updated_at: line.updatedAt,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 1n) return;
  throw new Refusal('bad_request', `there is a chat ${chatId} already: choose another id`, 'chatId');
}

async function writeLine(
  writer: RowWriter,
  chatId: ChatId,
  line: Exclude<ArchiveLine, { type: 'chat' }>,
): Promise<void> {
  switch (line.type) {
    case 'message':
      return writer.add('messages', {
        chat_id: chatId,
        id: line.id,
        role: line.role,
        turn: line.turn,
        step: line.step,
        client_message_id: line.clientMessageId,
        text: line.text,
        hidden: line.hidden,
        summarized_by: line.summarizedBy,
        at: line.at,
      });
    case 'call':
      return writer.add('calls', callRow(chatId, line));
    case 'note': {
      const { position, afterMessageId: after_message_id, key, text, at } = line;
      return writer.add('notes', { chat_id: chatId, position, after_message_id, key, text, at });
    }
    case 'step':
      return writer.add('steps', {
        chat_id: chatId,
        turn: line.turn,
        step: line.step,
        message_id: line.messageId,
        nonce: line.messageId === null ? null : randomUUID(),
        state: line.state,
        attempt_token: null,
        attempt_scheduled_ms: 0,
        has_parts: 0,
        usage: line.usage === null ? null : JSON.stringify(line.usage),
        at: line.at,
      });
    case 'turn':
      return writer.add('turns', {
        chat_id: chatId,
        turn: line.turn,
        agent_id: line.agentId,
        state: line.state,
        error_code: line.error?.code ?? null,
        error_message: line.error?.message ?? null,
        started_at: line.startedAt,
        ended_at: line.endedAt,
        epoch: line.epoch,
      });
    case 'latchkey-chat':
    case 'end':
      return undefined;
  }
}

function callRow(chatId: ChatId, line: LineOf<'call'>): Insertable<Schema['calls']> {
  return {
    chat_id: chatId,
    key: line.key,
    message_id: line.messageId,
    turn: line.turn,
    position: line.position,
    tool_call_id: line.toolCallId,
    tool_name: line.toolName,
    arguments: JSON.stringify(line.arguments),
    request: line.request === null ? null : JSON.stringify(line.request),
    nonce: randomUUID(),
    summary: line.summary,
    agent_id: line.agentId,
    // A settle asks for the original; of the copy nobody will ever say more.
    status: line.status === 'cancel_requested' ? 'unknown' : line.status,
    target: null,
    evidence: JSON.stringify(line.evidence),
    outcome: line.outcome === null ? null : JSON.stringify(line.outcome),
    result_text: line.result.text,
    is_error: line.result.isError ? 1 : 0,
    handle: line.handle,
    exit_code: line.exitCode,
    created_at: line.createdAt,
    resolved_at: line.resolvedAt,
    settled_at: line.settledAt,
  };
}

type WrittenTable = 'messages' | 'calls' | 'notes' | 'steps' | 'turns';

/** Many rows in one statement: each of its own would be a round trip to PostgreSQL. */
const ROWS_MAX = 100;

class RowWriter {
  readonly #trx: Transaction<Schema>;
  readonly #rows: { [Table in WrittenTable]: Insertable<Schema[Table]>[] } = {
    messages: [],
    calls: [],
    notes: [],
    steps: [],
    turns: [],
  };

  constructor(trx: Transaction<Schema>) {
    this.#trx = trx;
  }

  async add<Table extends WrittenTable>(table: Table, row: Insertable<Schema[Table]>): Promise<void> {
    this.#rows[table].push(row);
    if (this.#rows[table].length >= ROWS_MAX) await this.#write(table);
  }

  async flush(): Promise<void> {
    for (const table of Object.keys(this.#rows) as WrittenTable[]) await this.#write(table);
  }

  async #write(table: WrittenTable): Promise<void> {
    const rows = this.#rows[table].splice(0);
    if (rows.length === 0) return;
    await this.#trx.insertInto(table).values(rows).execute();
  }
}
