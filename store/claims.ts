/**
 * Which message the next turn answers. A claim binds one message to one turn number before the turn is started, so that
 * a message put in front meanwhile can't end up in a turn that was meant for another, and so that whoever asks again
 * (a chat that was lost, or reset) gets the same turn.
 */
import type { Selectable, Transaction } from 'kysely';
import type { ClaimNextTurnInput, ClaimNextTurnResult, TurnClaim } from '../contract/chat-activities.ts';
import type { ChatId } from '../contract/ids.ts';
import { TURN_SUMMARY_CHARACTERS_MAX } from '../contract/limits.ts';
import { firstLine } from '../contract/well-formed.ts';
import { changeKnownChat, readFacts } from './chats.ts';
import type { Database } from './database.ts';
import { listUntaken, updateQueuedRow } from './queue-rows.ts';
import type { ChatRow, QueuedMessageRow, Schema } from './schema.ts';
import { findTurnRow, insertLostTurn, setLastTurn } from './turn-rows.ts';

export async function claimNextTurn(db: Database, input: ClaimNextTurnInput): Promise<ClaimNextTurnResult> {
  return changeKnownChat(db, input.chatId, async (trx, chat) => {
    const claim = await findClaim(trx, chat, input);
    return { ...(await readFacts(trx, chat)), ...(claim === undefined ? {} : { claim }) };
  });
}

async function findClaim(
  trx: Transaction<Schema>,
  chat: Selectable<ChatRow>,
  { chatId, insteadOf }: ClaimNextTurnInput,
): Promise<TurnClaim | undefined> {
  if (chat.active_turn !== null) return { turn: chat.active_turn, isRunning: true, summary: '' };
  const untaken = await listUntaken(trx, chatId);
  const claimed = untaken.find(({ turn }) => turn !== null);
  if (claimed === undefined) {
    const [next] = untaken;
    return next === undefined ? undefined : bind(trx, next, chat.last_turn + 1);
  }
  const turn = claimed.turn ?? 0;
  if (insteadOf?.turn === turn) {
    // Whoever brings its workflow back, such as by a reset, finds that it has ended.
    await insertLostTurn(trx, { chatId, turn, epoch: chat.epoch });
    return bind(trx, claimed, Math.max(chat.last_turn, turn) + insteadOf.skip);
  }
  const row = await findTurnRow(trx, { chatId, turn });
  // Ended without having taken its message: it was refused, or is of a time that the store has lost.
  if (row !== undefined && row.state !== 'active') return bind(trx, claimed, Math.max(chat.last_turn, turn) + 1);
  return asClaim(claimed, turn);
}

async function bind(trx: Transaction<Schema>, message: Selectable<QueuedMessageRow>, turn: number): Promise<TurnClaim> {
  await updateQueuedRow(trx, message, { turn });
  await setLastTurn(trx, { chatId: message.chat_id as ChatId, turn });
  return asClaim(message, turn);
}

function asClaim({ client_message_id, text }: Selectable<QueuedMessageRow>, turn: number): TurnClaim {
  return {
    turn,
    isRunning: false,
    clientMessageId: client_message_id,
    summary: firstLine(text, TURN_SUMMARY_CHARACTERS_MAX),
  };
}
