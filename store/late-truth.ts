/** What becomes known of a call after its result was recorded: the status moves, the text never does (C3). */
import type { Selectable, Transaction } from 'kysely';
import type { RecordResultResult, RecordTruthInput } from '../contract/activity-interfaces.ts';
import { mayMoveTo } from '../contract/calls.ts';
import type { CallOutcome } from '../contract/calls.ts';
import type { ChatId } from '../contract/ids.ts';
import { NOTE_CHARACTERS_MAX } from '../contract/limits.ts';
import { cutAtCharacter } from '../contract/well-formed.ts';
import { hasResult, readCall } from './call-row.ts';
import type { StoredCall } from './call-row.ts';
import { heldResult, outcomeColumns, requireCallRow, resolveCallRow, updateCallRow } from './calls.ts';
import { requireChat } from './chats.ts';
import type { Database } from './database.ts';
import { findMessageRow } from './message-rows.ts';
import { addNote } from './notes.ts';
import type { CallRow, Schema } from './schema.ts';
import { changeChat } from './transaction.ts';

/**
 * Moves the row to the truth where the ledger has such a step, and leaves the model a note; a truth that is not news
 * changes nothing. A call that has no result yet gets the truth as its result. Returns what the row then holds.
 */
export async function recordTruth(db: Database, input: RecordTruthInput): Promise<RecordResultResult> {
  const { outcome } = input;
  return changeChat(db, input.chatId, async (trx, chat) => {
    const row = await requireCallRow(trx, input);
    const truth = { status: outcome.status, evidence: outcome.evidence };
    if (!hasResult(row)) {
      await resolveCallRow(trx, row, outcome);
      return truth;
    }
    const held = heldResult(row);
    if (!mayMoveTo(truth, held)) return held;
    const { status, evidence, handle, exit_code } = outcomeColumns(outcome);
    await updateCallRow(trx, row, {
      status,
      evidence,
      // What was known of it stays known: a truth may come without the handle.
      handle: handle ?? row.handle,
      exit_code,
      settled_at: new Date().toISOString(),
    });
    // That it is still unknown is what the model was told already; of what an edit has hidden it is told nothing more.
    if (status !== 'unknown' && !(await isHidden(trx, row))) {
      await addNote(trx, requireChat(chat, input.chatId), { key: input.key, text: noteText(readCall(row), outcome) });
    }
    return truth;
  });
}

async function isHidden(trx: Transaction<Schema>, row: Selectable<CallRow>): Promise<boolean> {
  const message = await findMessageRow(trx, { chatId: row.chat_id as ChatId, messageId: row.message_id });
  return message !== undefined && message.hidden > 0;
}

function noteText({ toolName, toolCallId, summary, result }: StoredCall, outcome: CallOutcome): string {
  const told = result === undefined ? '' : ` Its result said: ${lastLineOf(result.text)}`;
  return (
    `Note on an earlier call of ${toolName} (${toolCallId}, ${summary}): more is known of it now than its result says.` +
    `${told}\nWhat is known now:\n${cutMiddle(outcome.text)}`
  );
}

const TOLD_CHARACTERS_MAX = 300;

function lastLineOf(text: string): string {
  return cutAtCharacter(text.split('\n').at(-1) ?? '', TOLD_CHARACTERS_MAX);
}

/** How a command ended is said in a text's last lines. */
function cutMiddle(text: string): string {
  if (text.length <= NOTE_CHARACTERS_MAX) return text;
  const half = NOTE_CHARACTERS_MAX / 2;
  return `${cutAtCharacter(text, half)}\n[…]\n${text.slice(-half).toWellFormed()}`;
}
