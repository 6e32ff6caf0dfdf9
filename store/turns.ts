/** Turns: one at a time in a chat, each taken once and ended once (T1). */
import type { Selectable, Transaction } from 'kysely';
import type { EndTurnInput, TakeTurnInput, TakeTurnResult } from '../contract/activity-interfaces.ts';
import { CodedError, Refusal } from '../contract/failures.ts';
import type { AgentId, ChatId, MessageId } from '../contract/ids.ts';
import { FAILURE_CHARACTERS_MAX } from '../contract/limits.ts';
import type { TurnEnd } from '../contract/turn.ts';
import { toSafeText } from '../contract/well-formed.ts';
import { changeKnownChat, raiseHighestMessageId } from './chats.ts';
import type { Database } from './database.ts';
import { insertMessage } from './message-rows.ts';
import { listUntaken, updateQueuedRow } from './queue-rows.ts';
import type { ChatRow, Schema } from './schema.ts';
import { toStoredText } from './stored-text.ts';
import { withdrawOpenSteps } from './step-withdrawal.ts';
import { appendEvents } from './stream-events.ts';
import type { StreamEventBody, TurnError } from './stream-events.ts';
import { findTurnRow, setLastTurn } from './turn-rows.ts';

export interface Turn {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly state: 'active' | TurnEnd;
  readonly agentId?: AgentId;
  readonly error?: TurnError;
  readonly startedAt?: string;
  readonly endedAt?: string;
}

/** Allots the next turn number of a chat, for whoever starts the turn's workflow. A number that isn't used is a gap. */
export async function reserveNextTurn(db: Database, chatId: ChatId): Promise<number> {
  return changeKnownChat(db, chatId, async (trx, { last_turn: last }) => {
    await setLastTurn(trx, { chatId, turn: last + 1 });
    return last + 1;
  });
}

/**
 * Makes this turn the chat's running one and moves its message into the conversation, with an id above every id that
 * the store or the agent has seen. Taking it again changes nothing. Throws `turn_closed`, `chat_busy`, or
 * `store_rolled_back`; the last one ends the turn, and ids go on above the agent's, so the next turn works.
 */
export async function takeTurn(db: Database, input: TakeTurnInput): Promise<TakeTurnResult> {
  const taken = await changeKnownChat(db, input.chatId, (trx, chat) => takeInTransaction(trx, chat, input));
  // Thrown out here, since what notices the rollback must not itself be rolled back.
  if (taken === 'store_rolled_back') throw new Refusal('store_rolled_back', ROLLED_BACK_TEXT);
  return taken;
}

const ROLLED_BACK_TEXT =
  'the store is older than what the agent has seen of this chat: it was restored from a backup, or lost its last writes';

async function takeInTransaction(
  trx: Transaction<Schema>,
  chat: Selectable<ChatRow>,
  input: TakeTurnInput,
): Promise<TakeTurnResult | 'store_rolled_back'> {
  const { chatId, turn } = input;
  const row = await findTurnRow(trx, input);
  if (row?.error_code === 'store_rolled_back') return 'store_rolled_back';
  if (row !== undefined && row.state !== 'active') {
    throw new Refusal('turn_closed', `turn ${turn} of chat ${chatId} has ended (${row.state})`);
  }
  if (chat.active_turn !== null && chat.active_turn !== turn) {
    throw new Refusal('chat_busy', `turn ${chat.active_turn} of chat ${chatId} is running`);
  }
  const isFirst = chat.active_turn === null;
  const agentHighest = input.agentHighestMessageId ?? 0;
  const storeHighest = chat.highest_message_id;
  await raiseHighestMessageId(trx, chatId, agentHighest);
  if (isFirst) await activate(trx, input, chat);
  const highestMessageId = isFirst ? await takeMessage(trx, input, Math.max(storeHighest, agentHighest)) : storeHighest;
  if (agentHighest <= storeHighest) return { highestMessageId };
  const error = { code: 'store_rolled_back', message: ROLLED_BACK_TEXT };
  await setTurnError(trx, input, error);
  // A turn that ran already may have open calls: its workflow resolves them and then ends it.
  if (isFirst) await finish(trx, { ...input, state: 'failed', error }, { ...chat, active_turn: turn });
  return 'store_rolled_back';
}

async function activate(trx: Transaction<Schema>, input: TakeTurnInput, chat: Selectable<ChatRow>): Promise<void> {
  const { chatId, turn, agentId } = input;
  await trx
    .insertInto('turns')
    .values({
      chat_id: chatId,
      turn,
      agent_id: agentId,
      state: 'active',
      error_code: null,
      error_message: null,
      started_at: new Date().toISOString(),
      ended_at: null,
      epoch: chat.epoch,
    })
    .execute();
  await trx.updateTable('chats').set({ active_turn: turn }).where('id', '=', chatId).execute();
  await setLastTurn(trx, input);
  await appendEvents(trx, chatId, [
    { type: 'status', state: 'running', turn },
    { type: 'turn', turn, state: 'active' },
  ]);
}

/** The message that was claimed for this turn, else the next one that waits: one a turn. */
async function takeMessage(trx: Transaction<Schema>, input: TakeTurnInput, highest: number): Promise<number> {
  const { chatId, turn } = input;
  const untaken = await listUntaken(trx, chatId);
  const message = untaken.find((row) => row.turn === turn) ?? untaken.find((row) => row.turn === null);
  if (message === undefined) return highest;
  const id = (highest + 1) as MessageId;
  const { client_message_id: clientMessageId, text } = message;
  await insertMessage(trx, { chatId, messageId: id, role: 'user', turn, clientMessageId, text });
  await updateQueuedRow(trx, message, { turn, message_id: id });
  await raiseHighestMessageId(trx, chatId, id);
  await appendEvents(trx, chatId, [{ type: 'message', role: 'user', id, turn, clientMessageId, text }]);
  return id;
}

/**
 * Ends a turn, once: the first end stands. Frees the chat, keeps or clears its last error, closes steps that were
 * never committed; returns the end that stands. Throws `invariant_broken` while one of its calls has no result: nothing is resolved silently (C1).
 */
export async function endTurn(db: Database, input: EndTurnInput): Promise<{ readonly state: TurnEnd }> {
  return changeKnownChat(db, input.chatId, async (trx, chat) => {
    const row = await findTurnRow(trx, input);
    if (input.highestMessageId !== undefined) {
      await raiseHighestMessageId(trx, input.chatId, input.highestMessageId);
    }
    if (row !== undefined && row.state !== 'active') return { state: row.state };
    await requireNoOpenCalls(trx, input);
    await finish(trx, input, chat);
    return { state: input.state };
  });
}

async function finish(trx: Transaction<Schema>, input: EndTurnInput, chat: Selectable<ChatRow>): Promise<void> {
  const { chatId, turn, state } = input;
  const error =
    input.error === undefined
      ? undefined
      : { code: input.error.code, message: toStoredText(toSafeText(input.error.message, FAILURE_CHARACTERS_MAX)) };
  const columns = {
    state,
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
    ended_at: new Date().toISOString(),
  };
  await trx
    .insertInto('turns')
    .values({ chat_id: chatId, turn, agent_id: null, started_at: null, epoch: chat.epoch, ...columns })
    .onConflict((conflict) => conflict.columns(['chat_id', 'turn']).doUpdateSet(columns))
    .execute();
  await withdrawOpenSteps(trx, { chatId, turn });
  await setLastTurn(trx, input);
  const ended: StreamEventBody = { type: 'turn', turn, state, ...(error === undefined ? {} : { error }) };
  if (chat.active_turn !== turn) {
    // It was refused before it ran: the chat's own state, perhaps another running turn, is none of its business.
    await appendEvents(trx, chatId, [ended]);
    return;
  }
  await trx
    .updateTable('chats')
    .set({
      active_turn: null,
      last_error_code: columns.error_code,
      last_error_message: columns.error_message,
      updated_at: columns.ended_at,
    })
    .where('id', '=', chatId)
    .execute();
  await appendEvents(trx, chatId, [
    { type: 'status', state: 'idle', ...(error === undefined ? {} : { error }) },
    ended,
  ]);
}

async function requireNoOpenCalls(trx: Transaction<Schema>, input: EndTurnInput): Promise<void> {
  const open = await trx
    .selectFrom('calls')
    .select('key')
    .where('chat_id', '=', input.chatId)
    .where('turn', '=', input.turn)
    // One that is `cancel_requested` may have its result: a settle goes on asking.
    .where('result_text', 'is', null)
    .execute();
  if (open.length === 0) return;
  const keys = open.map((call) => call.key).join(', ');
  throw new CodedError(
    'invariant_broken',
    toSafeText(`turn ${input.turn} can't end: its calls ${keys} have no result`, FAILURE_CHARACTERS_MAX),
  );
}

async function setTurnError(trx: Transaction<Schema>, input: TakeTurnInput, error: TurnError): Promise<void> {
  await trx
    .updateTable('turns')
    .set({ error_code: error.code, error_message: error.message })
    .where('chat_id', '=', input.chatId)
    .where('turn', '=', input.turn)
    .execute();
}

export async function findTurn(db: Database, input: { chatId: ChatId; turn: number }): Promise<Turn | undefined> {
  const row = await findTurnRow(db, input);
  if (row === undefined) return undefined;
  return {
    chatId: input.chatId,
    turn: row.turn,
    state: row.state,
    ...(row.agent_id === null ? {} : { agentId: row.agent_id as AgentId }),
    ...(row.error_code === null ? {} : { error: { code: row.error_code, message: row.error_message ?? '' } }),
    ...(row.started_at === null ? {} : { startedAt: row.started_at }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
  };
}
