/**
 * Compactions: a summary takes the place of older messages before the model; people still see those. Held by an
 * attempt's token as a step is, so that an attempt that was overtaken commits nothing. A committed one never changes.
 */
import { randomUUID } from 'node:crypto';
import type { Selectable, Transaction } from 'kysely';
import type { CompactConversationResult } from '../contract/activity-interfaces.ts';
import { CodedError, Refusal } from '../contract/failures.ts';
import type { ChatId, MessageId } from '../contract/ids.ts';
import { raiseHighestMessageId } from './chats.ts';
import type { Database } from './database.ts';
import { insertMessage } from './message-rows.ts';
import type { ChatRow, CompactionRow, Schema } from './schema.ts';
import type { StepUsage } from './step-usage.ts';
import { requireActiveTurn } from './steps.ts';
import { toStoredText } from './stored-text.ts';
import { appendEvents } from './stream-events.ts';
import { changeChat, readAgain } from './transaction.ts';

export interface BeginCompactionInput {
  readonly chatId: ChatId;
  readonly turn: number;
  /** From 1 within the turn. */
  readonly number: number;
  readonly messageId: MessageId;
  /** The server's time at which this attempt was scheduled. */
  readonly attemptScheduledMs: number;
}

export interface CompactionAttempt extends BeginCompactionInput {
  readonly token: string;
}

export type BeginCompactionResult =
  | { readonly state: 'committed'; readonly result: CompactConversationResult }
  | { readonly state: 'begun'; readonly attempt: CompactionAttempt };

export interface CommitCompactionInput {
  readonly text: string;
  /** Messages of this chat that the summary stands for from now on. */
  readonly replaced: readonly MessageId[];
  /** The newest message that the model's last use was counted with: that count is of no more use. */
  readonly seenMessageId: MessageId;
}

/** More names in one statement than any database takes, where a conversation was never compacted before. */
const IDS_PER_STATEMENT = 500;

/**
 * Takes a compaction for one attempt; a committed one is only read. Throws `turn_closed`, or `too_busy` when a later
 * attempt holds it.
 */
export async function beginCompaction(db: Database, input: BeginCompactionInput): Promise<BeginCompactionResult> {
  return changeChat(db, input.chatId, async (trx, found): Promise<BeginCompactionResult> => {
    const row = await findRow(trx, input);
    if (row?.state === 'committed') return { state: 'committed', result: await readCommitted(trx, row) };
    const chat = await requireActiveTurn(trx, found, input);
    const attempt = { ...input, token: randomUUID() };
    if (row === undefined) {
      await insertRow(trx, chat, attempt);
      return { state: 'begun', attempt };
    }
    if (row.attempt_scheduled_ms > input.attemptScheduledMs) throw overtaken(input);
    await updateRow(trx, input, {
      attempt_token: attempt.token,
      attempt_scheduled_ms: input.attemptScheduledMs,
    });
    return { state: 'begun', attempt: { ...attempt, messageId: row.message_id as MessageId } };
  });
}

/** Tells watchers that a summary of so many messages is being written. */
export async function announceCompaction(
  db: Database,
  attempt: CompactionAttempt,
  messageCount: number,
): Promise<void> {
  await changeChat(db, attempt.chatId, async (trx, chat) => {
    await requireHeld(trx, chat, attempt);
    const { chatId, turn } = attempt;
    await appendEvents(trx, chatId, [{ type: 'compaction', turn, messageCount }]);
  });
}

/** Puts the summary in its place, in one transaction. If another attempt has, that stands and is returned. */
export async function commitCompaction(
  db: Database,
  attempt: CompactionAttempt,
  input: CommitCompactionInput,
): Promise<CompactConversationResult> {
  const { chatId, turn, messageId } = attempt;
  return changeChat(db, chatId, async (trx, chat): Promise<CompactConversationResult> => {
    const row = await findRow(trx, attempt);
    if (row?.state === 'committed') return readCommitted(trx, row);
    await requireHeld(trx, chat, attempt);
    const text = toStoredText(input.text);
    await insertMessage(trx, { chatId, messageId, role: 'summary', turn, text });
    for (let next = 0; next < input.replaced.length; next += IDS_PER_STATEMENT) {
      await trx
        .updateTable('messages')
        .set({ summarized_by: messageId })
        .where('chat_id', '=', chatId)
        .where('id', 'in', input.replaced.slice(next, next + IDS_PER_STATEMENT))
        .execute();
    }
    await updateRow(trx, attempt, {
      state: 'committed',
      attempt_token: null,
      seen_message_id: input.seenMessageId,
    });
    const messageCount = input.replaced.length;
    await appendEvents(trx, chatId, [{ type: 'message', role: 'summary', id: messageId, turn, text, messageCount }]);
    return { messageId, messageCount };
  });
}

/**
 * What the newest step that the model still sees had used; undefined when its provider does not tell, or when the
 * conversation was compacted since.
 */
export async function findContextUse(db: Database, chatId: ChatId): Promise<StepUsage | undefined> {
  return readAgain(() => readContextUse(db, chatId));
}

async function readContextUse(db: Database, chatId: ChatId): Promise<StepUsage | undefined> {
  const step = await db
    .selectFrom('messages')
    .innerJoin('steps', (join) =>
      join.onRef('steps.chat_id', '=', 'messages.chat_id').onRef('steps.message_id', '=', 'messages.id'),
    )
    .select(['messages.id', 'steps.usage'])
    .where('messages.chat_id', '=', chatId)
    .where('messages.hidden', '=', 0)
    .where('steps.state', '=', 'committed')
    .orderBy('messages.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (step === undefined || step.usage === null) return undefined;
  const compaction = await db
    .selectFrom('compactions')
    .innerJoin('messages', (join) =>
      join.onRef('messages.chat_id', '=', 'compactions.chat_id').onRef('messages.id', '=', 'compactions.message_id'),
    )
    .select('compactions.seen_message_id')
    .where('compactions.chat_id', '=', chatId)
    .where('messages.hidden', '=', 0)
    .orderBy('compactions.message_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (step.id <= (compaction?.seen_message_id ?? 0)) return undefined;
  return JSON.parse(step.usage) as StepUsage;
}

async function readCommitted(db: Database, row: Selectable<CompactionRow>): Promise<CompactConversationResult> {
  const { count } = await db
    .selectFrom('messages')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('chat_id', '=', row.chat_id)
    .where('summarized_by', '=', row.message_id)
    .executeTakeFirstOrThrow();
  return { messageId: row.message_id as MessageId, messageCount: Number(count) };
}

async function requireHeld(
  trx: Transaction<Schema>,
  chat: Selectable<ChatRow> | undefined,
  attempt: CompactionAttempt,
): Promise<void> {
  await requireActiveTurn(trx, chat, attempt);
  const row = await findRow(trx, attempt);
  if (row === undefined || row.state === 'committed' || row.attempt_token !== attempt.token) throw overtaken(attempt);
}

async function insertRow(
  trx: Transaction<Schema>,
  { highest_message_id: highest }: Selectable<ChatRow>,
  input: CompactionAttempt,
): Promise<void> {
  const { chatId, turn, number, messageId, token } = input;
  if (messageId <= highest) {
    throw new Refusal('bad_request', `message id ${messageId} is taken: the next is ${highest + 1}`, 'messageId');
  }
  await raiseHighestMessageId(trx, chatId, messageId);
  await trx
    .insertInto('compactions')
    .values({
      chat_id: chatId,
      turn,
      number,
      message_id: messageId,
      state: 'open',
      attempt_token: token,
      attempt_scheduled_ms: input.attemptScheduledMs,
      seen_message_id: null,
      at: new Date().toISOString(),
    })
    .execute();
}

interface CompactionName {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly number: number;
}

async function updateRow(
  trx: Transaction<Schema>,
  name: CompactionName,
  columns: Partial<CompactionRow>,
): Promise<void> {
  await trx
    .updateTable('compactions')
    .set(columns)
    .where('chat_id', '=', name.chatId)
    .where('turn', '=', name.turn)
    .where('number', '=', name.number)
    .execute();
}

async function findRow(db: Database, name: CompactionName): Promise<Selectable<CompactionRow> | undefined> {
  return db
    .selectFrom('compactions')
    .selectAll()
    .where('chat_id', '=', name.chatId)
    .where('turn', '=', name.turn)
    .where('number', '=', name.number)
    .executeTakeFirst();
}

function overtaken({ turn, number }: CompactionName): CodedError {
  return new CodedError('too_busy', `another attempt has taken over compaction ${number} of turn ${turn}`);
}
