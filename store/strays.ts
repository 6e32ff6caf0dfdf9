/** What the store holds open; whether anybody still works on it, only Temporal knows. */
import type { CloseStrayTurnResult, FindStraysResult } from '../contract/activity-interfaces.ts';
import type { ChatId } from '../contract/ids.ts';
import type { StrayTurn } from '../contract/sweep.ts';
import { hasResult, readCommittedCall } from './call-row.ts';
import { listCallRows } from './calls.ts';
import type { Database } from './database.ts';
import { closeStep } from './steps.ts';

/** One look of a sweep; what is beyond comes with the next one. */
const ROWS_MAX = 200;

/**
 * Every turn that is the running one of its chat, every call that has its result while its end is asked for, and every
 * chat in which a message waits while no turn runs.
 */
export async function listUnfinished(db: Database): Promise<FindStraysResult> {
  const turns = await db
    .selectFrom('turns')
    .select(['chat_id', 'turn'])
    .where('state', '=', 'active')
    .orderBy('started_at')
    .limit(ROWS_MAX)
    .execute();
  const calls = await db
    .selectFrom('calls')
    .selectAll()
    .where('status', '=', 'cancel_requested')
    .where('result_text', 'is not', null)
    .orderBy('resolved_at')
    .limit(ROWS_MAX)
    .execute();
  const chats = await db
    .selectFrom('queued_messages')
    .innerJoin('chats', 'chats.id', 'queued_messages.chat_id')
    .select('queued_messages.chat_id')
    .distinct()
    .where('queued_messages.message_id', 'is', null)
    .where('queued_messages.deleted_at', 'is', null)
    .where('chats.active_turn', 'is', null)
    // Without a model no chat workflow can answer it: whoever queued it starts its turn.
    .where('chats.model', 'is not', null)
    .orderBy('queued_messages.chat_id')
    .limit(ROWS_MAX)
    .execute();
  return {
    chats: chats.map(({ chat_id }) => chat_id as ChatId),
    turns: turns.map(({ chat_id, turn }) => ({ chatId: chat_id as ChatId, turn })),
    calls: calls.map((row) => ({ chatId: row.chat_id as ChatId, turn: row.turn, call: readCommittedCall(row) })),
  };
}

/** Closes each step of the turn against late commits; hands back the calls of which only their agents know (K5). */
export async function closeStrayTurn(db: Database, input: StrayTurn): Promise<CloseStrayTurnResult> {
  const { chatId, turn } = input;
  const steps = await db
    .selectFrom('steps')
    .select('step')
    .where('chat_id', '=', chatId)
    .where('turn', '=', turn)
    .orderBy('step')
    .execute();
  for (const { step } of steps) await closeStep(db, { chatId, turn, step, keepsText: true });
  const rows = await listCallRows(db, { chatId, turn });
  return { openCalls: rows.filter((row) => !hasResult(row)).map(readCommittedCall) };
}
