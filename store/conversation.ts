import type { Selectable } from 'kysely';
import type { ChatId, ExecutionKey, MessageId, ToolCallId } from '../contract/ids.ts';
import type { ConversationCall, ConversationMessage, NoteMessage, SaidMessage } from '../contract/messages.ts';
import { selectCalls } from './calls.ts';
import type { Database } from './database.ts';
import { listNoteRows } from './notes.ts';
import type { OlderPart, OlderParts } from './older-part.ts';
import type { CallRow, MessageRow } from './schema.ts';
import { inSnapshot } from './transaction.ts';
import { findTurnRow } from './turn-rows.ts';

/**
 * A chat as its model sees it: what was said, in order, each assistant message with its calls and the results that they
 * have so far; and what became known later, after the message that was the last one then. What a summary stands for is
 * left out, and the summary comes first; one that an edit has hidden stands for nothing.
 */
export async function loadConversation(
  { db, older }: { readonly db: Database; readonly older: OlderParts },
  chatId: ChatId,
): Promise<readonly ConversationMessage[]> {
  // One snapshot, so that no call is seen without the message that asked for it.
  return inSnapshot(db, async (trx) => {
    const part = await older.findProven(trx, chatId);
    const messages = await visibleMessages(trx, { chatId, afterId: part?.throughId ?? 0 });
    // Those of hidden messages between are left out below, which costs less than to ask for each message.
    const fromId = messages.find(({ role }) => role === 'assistant')?.id ?? Number.MAX_SAFE_INTEGER;
    const callRows = await selectCalls(trx, { chatId, fromId }).select(CALL_COLUMNS).execute();
    const noteRows = await listNoteRows(trx, { chatId });
    const notes = noteRows.map(({ after_message_id: afterMessageId, text }): NoteMessage => {
      return { role: 'note', chatId, afterMessageId, text };
    });
    const visibleIds = new Set(messages.map(({ id }) => id));
    const shown = callRows.filter((row) => visibleIds.has(row.message_id));
    const callsByMessage = Map.groupBy(shown, (row) => row.message_id);
    const replacedSteps = await countReplacedSteps(trx, chatId, messages);
    const read = messages.map((row): SaidMessage => {
      const id = row.id as MessageId;
      const { turn, text } = row;
      if (row.role === 'user') return { role: 'user', id, chatId, turn, text };
      if (row.role === 'summary') return { role: 'summary', id, chatId, turn, text, replacedSteps };
      const calls = (callsByMessage.get(id) ?? []).map(readConversationCall);
      return { role: 'assistant', id, chatId, turn, step: row.step ?? 0, text, calls };
    });
    const said = part === undefined ? read : [...part.said, ...read];
    if (said.length >= older.messagesMin) {
      const kept = await olderPartOf(trx, { chatId, said, messages, shown, part });
      if (kept !== undefined) older.keep(chatId, kept);
    }
    return withNotes(said, notes);
  });
}

interface Read {
  readonly chatId: ChatId;
  readonly said: readonly SaidMessage[];
  /** The rows that were read now, and the part that they follow. */
  readonly messages: readonly VisibleMessage[];
  readonly shown: readonly SeenCall[];
  readonly part: OlderPart | undefined;
}

/** What was said before the newest turn; undefined where that may still change, or is not more than was known. */
async function olderPartOf(
  db: Database,
  { chatId, said, messages, shown, part }: Read,
): Promise<OlderPart | undefined> {
  const newestTurn = messages.at(-1)?.turn ?? 0;
  const settled = messages.slice(
    0,
    messages.findIndex(({ turn }) => turn === newestTurn),
  );
  const last = settled.at(-1);
  // What is kept has none, so it is among those that were read now.
  if (last === undefined || messages.some(({ role }) => role === 'summary')) return undefined;
  const calls = shown.filter((row) => row.message_id <= last.id);
  const turn = await findTurnRow(db, { chatId, turn: last.turn });
  if (typeof turn?.ended_at !== 'string' || calls.some((row) => row.result_text === null)) return undefined;
  const texts = [...settled.map(({ text }) => text), ...calls.flatMap((row) => [row.arguments, row.result_text ?? ''])];
  return {
    said: said.slice(0, said.length - messages.length + settled.length),
    throughId: last.id,
    end: { turn: last.turn, at: turn.ended_at },
    characters: texts.reduce((sum, text) => sum + text.length, part?.characters ?? 0),
  };
}

/** The whole conversation is read before each model call, so only what a prompt is made of, and no question a row. */
const MESSAGE_COLUMNS = ['id', 'role', 'turn', 'step', 'text'] as const;
const CALL_COLUMNS = [
  'key',
  'message_id',
  'tool_call_id',
  'tool_name',
  'arguments',
  'result_text',
  'is_error',
] as const;

type VisibleMessage = Pick<Selectable<MessageRow>, (typeof MESSAGE_COLUMNS)[number]>;
type SeenCall = Pick<Selectable<CallRow>, (typeof CALL_COLUMNS)[number]>;

function visibleMessages(
  db: Database,
  { chatId, afterId }: { readonly chatId: ChatId; readonly afterId: number },
): Promise<VisibleMessage[]> {
  return db
    .selectFrom('messages')
    .select(MESSAGE_COLUMNS)
    .where('chat_id', '=', chatId)
    .where('id', '>', afterId)
    .where('hidden', '=', 0)
    .where(({ exists, not, or, eb, selectFrom }) =>
      or([
        eb('summarized_by', 'is', null),
        not(
          exists(
            selectFrom('messages as summaries')
              .select('summaries.id')
              .whereRef('summaries.chat_id', '=', 'messages.chat_id')
              .whereRef('summaries.id', '=', 'messages.summarized_by')
              .where('summaries.hidden', '=', 0),
          ),
        ),
      ]),
    )
    .orderBy('id')
    .execute();
}

/** Of the newest turn: what its user's message is answered with so far, and the model does not see any more. */
async function countReplacedSteps(db: Database, chatId: ChatId, visible: readonly VisibleMessage[]): Promise<number> {
  if (!visible.some(({ role }) => role === 'summary')) return 0;
  const turn = visible.findLast(({ role }) => role === 'user')?.turn ?? 0;
  const { steps } = await db
    .selectFrom('messages')
    .select(({ fn }) => fn.countAll().as('steps'))
    .where('chat_id', '=', chatId)
    .where('turn', '=', turn)
    .where('role', '=', 'assistant')
    .where('hidden', '=', 0)
    .executeTakeFirstOrThrow();
  return Number(steps) - visible.filter((row) => row.role === 'assistant' && row.turn === turn).length;
}

function withNotes(said: readonly SaidMessage[], notes: readonly NoteMessage[]): ConversationMessage[] {
  // The usual case, and no work that grows with the conversation.
  if (notes.length === 0 && !said.some(({ role }) => role === 'summary')) return [...said];
  const placed = [
    ...said.map((message) => ({ message, after: message.role === 'summary' ? -1 : message.id - 1 })),
    // After the message itself, before the next one: ids are whole numbers.
    ...notes.map((message) => ({ message, after: message.afterMessageId - 0.5 })),
  ];
  return placed.toSorted((a, b) => a.after - b.after).map(({ message }) => message);
}

function readConversationCall(row: SeenCall): ConversationCall {
  return {
    key: row.key as ExecutionKey,
    toolCallId: row.tool_call_id as ToolCallId,
    toolName: row.tool_name,
    arguments: JSON.parse(row.arguments) as ConversationCall['arguments'],
    ...(row.result_text === null ? {} : { result: { text: row.result_text, isError: row.is_error === 1 } }),
  };
}
