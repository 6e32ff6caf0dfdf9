/**
 * Steps: one model call each. An attempt holds a step by its token, taken when it begins; every write compares it, so
 * an attempt that was overtaken (a zombie) writes nothing more (I09). A committed step never changes again.
 */
import { randomUUID } from 'node:crypto';
import type { Selectable, Transaction } from 'kysely';
import type { CloseStepInput, CloseStepResult, GenerateStepResult } from '../contract/activity-interfaces.ts';
import type { CallOutcome } from '../contract/calls.ts';
import { CodedError, Refusal } from '../contract/failures.ts';
import type { ChatId, MessageId } from '../contract/ids.ts';
import { hasResult, readCommittedCall } from './call-row.ts';
import { listAskedCallRows, resolveCallRow } from './calls.ts';
import { changeKnownChat, raiseHighestMessageId } from './chats.ts';
import type { Database } from './database.ts';
import { insertMessage } from './message-rows.ts';
import type { ChatRow, Schema, StepRow } from './schema.ts';
import { findStepRow, insertStepRow, updateStep } from './step-rows.ts';
import type { StepName } from './step-rows.ts';
import { withdrawParts } from './step-withdrawal.ts';
import { appendEvents, dropParts, readParts } from './stream-events.ts';
import { changeChat } from './transaction.ts';
import { findTurnRow } from './turn-rows.ts';
import type { TurnName } from './turn-rows.ts';

export interface BeginStepInput extends StepName {
  readonly messageId: MessageId;
  readonly stepNonce: string;
  /** The server's time at which this attempt was scheduled. */
  readonly attemptScheduledMs: number;
}

/** The right to write into one open step; void as soon as another attempt begins it. */
export interface StepAttempt extends StepName {
  readonly token: string;
  /** As stored: what an earlier attempt brought wins. */
  readonly messageId: MessageId;
  readonly stepNonce: string;
}

export type BeginStepResult =
  | { readonly state: 'committed'; readonly result: GenerateStepResult }
  | { readonly state: 'begun'; readonly attempt: StepAttempt };

/**
 * Takes a step for one attempt and withdraws what an earlier one had shown. A committed step is only read, also in a
 * turn that has ended. Throws `step_closed`, `turn_closed`, or `too_busy` when a later attempt holds the step.
 */
export async function beginStep(db: Database, input: BeginStepInput): Promise<BeginStepResult> {
  return changeChat(db, input.chatId, async (trx, found): Promise<BeginStepResult> => {
    const row = await findStepRow(trx, input);
    if (row?.state === 'committed') return { state: 'committed', result: await readCommittedStep(trx, row) };
    const chat = await requireActiveTurn(trx, found, input);
    await requireEarlierStep(trx, input);
    if (row?.state === 'closed') throw closedStep(input);
    const attempt = { ...input, token: randomUUID() };
    if (row === undefined) {
      await insertStep(trx, chat, attempt);
      return { state: 'begun', attempt };
    }
    // An attempt that a frozen worker had swallowed must not take the step from the one that replaced it.
    if (row.attempt_scheduled_ms > input.attemptScheduledMs) throw overtaken(input);
    await withdrawParts(trx, input, row.has_parts === 1);
    await updateStep(trx, input, {
      attempt_token: attempt.token,
      attempt_scheduled_ms: input.attemptScheduledMs,
      has_parts: 0,
    });
    return { state: 'begun', attempt: { ...attempt, ...requireIdentity(row) } };
  });
}

/** A step follows a committed one: a store that has lost it went back in time within the turn (I02). */
async function requireEarlierStep(trx: Transaction<Schema>, input: BeginStepInput): Promise<void> {
  if (input.step === 1) return;
  const earlier = await findStepRow(trx, { ...input, step: input.step - 1 });
  if (earlier?.state === 'committed') return;
  throw new Refusal('store_rolled_back', `the store has lost step ${input.step - 1} of turn ${input.turn}`);
}

async function insertStep(
  trx: Transaction<Schema>,
  { highest_message_id: highest }: Selectable<ChatRow>,
  input: BeginStepInput & { readonly token: string },
): Promise<void> {
  const { chatId, messageId } = input;
  if (messageId <= highest) {
    throw new Refusal(
      'bad_request',
      `message id ${messageId} is taken: the next free one is ${highest + 1}`,
      'messageId',
    );
  }
  await raiseHighestMessageId(trx, chatId, messageId);
  await insertStepRow(trx, input, {
    message_id: messageId,
    nonce: input.stepNonce,
    state: 'open',
    attempt_token: input.token,
    attempt_scheduled_ms: input.attemptScheduledMs,
  });
}

/** Shows a piece of text that the model is still writing. Throws once the attempt doesn't hold the step any more. */
export async function writePart(db: Database, attempt: StepAttempt, text: string): Promise<void> {
  const { chatId, turn, step, messageId } = attempt;
  await changeChat(db, chatId, async (trx, chat) => {
    const row = await requireHeldStep(trx, chat, attempt);
    if (row.has_parts === 0) await updateStep(trx, attempt, { has_parts: 1 });
    await appendEvents(trx, chatId, [{ type: 'part', turn, step, messageId, text }]);
  });
}

/** The open step that this attempt holds; throws when it is closed, committed, overtaken, or its turn has ended. */
export async function requireHeldStep(
  trx: Transaction<Schema>,
  chat: Selectable<ChatRow> | undefined,
  attempt: StepAttempt,
): Promise<Selectable<StepRow>> {
  await requireActiveTurn(trx, chat, attempt);
  const row = await findStepRow(trx, attempt);
  if (row === undefined || row.state === 'closed') throw closedStep(attempt);
  if (row.state === 'committed' || row.attempt_token !== attempt.token) throw overtaken(attempt);
  return row;
}

/**
 * Closes a step against late commits, and gives "not run" to every call that was never dispatched (K5: a row without
 * a target). Calls with a target are handed back open: only the agent knows what became of them.
 */
export async function closeStep(db: Database, input: CloseStepInput): Promise<CloseStepResult> {
  return changeKnownChat(db, input.chatId, async (trx): Promise<CloseStepResult> => {
    const row = await findStepRow(trx, input);
    if (row?.state !== 'committed') {
      const kept = input.keepsText === true && row !== undefined ? await keepText(trx, row) : undefined;
      if (kept === undefined) await closeUncommitted(trx, input, row);
      return { openCalls: [], ...(kept === undefined ? {} : { messageId: kept }) };
    }
    const { messageId } = requireIdentity(row);
    const open = (await listAskedCallRows(trx, { chatId: input.chatId, messageId })).filter((call) => !hasResult(call));
    for (const call of open) if (call.target === null) await resolveCallRow(trx, call, NOT_RUN);
    return { messageId, openCalls: open.filter((call) => call.target !== null).map(readCommittedCall) };
  });
}

const NOT_RUN: CallOutcome = {
  status: 'no_effect',
  evidence: { code: 'not_dispatched', detail: 'The step was closed before this call was dispatched.' },
  text: '[not run: the step ended before this call was started; nothing was executed]',
};

/**
 * What the model had written when its turn was interrupted becomes its message, without any call; undefined when that
 * is nothing. The step counts as committed then, so that no late attempt can write into it.
 */
async function keepText(trx: Transaction<Schema>, row: Selectable<StepRow>): Promise<MessageId | undefined> {
  const { turn, step, state } = row;
  const chatId = row.chat_id as ChatId;
  const text = state === 'open' && row.has_parts === 1 ? await readParts(trx, { chatId, turn, step }) : '';
  if (text.trim() === '') return undefined;
  const { messageId } = requireIdentity(row);
  const place = { chatId, turn, step, messageId };
  await insertMessage(trx, { ...place, role: 'assistant', text });
  await updateStep(trx, place, { state: 'committed', attempt_token: null, has_parts: 0 });
  await dropParts(trx, place);
  await appendEvents(trx, chatId, [{ type: 'message', role: 'assistant', id: messageId, turn, step, text, calls: [] }]);
  return messageId;
}

async function closeUncommitted(
  trx: Transaction<Schema>,
  input: CloseStepInput,
  row: Selectable<StepRow> | undefined,
): Promise<void> {
  if (row !== undefined) {
    await updateStep(trx, input, { state: 'closed', attempt_token: null, has_parts: 0 });
    await withdrawParts(trx, input, row.has_parts === 1);
    return;
  }
  await insertStepRow(trx, input, {
    message_id: null,
    nonce: null,
    state: 'closed',
    attempt_token: null,
    attempt_scheduled_ms: 0,
  });
}

/** What a committed step gave, as stored now: calls that have a result since say so. */
export async function readCommittedStep(db: Database, row: Selectable<StepRow>): Promise<GenerateStepResult> {
  const { messageId } = requireIdentity(row);
  const calls = await listAskedCallRows(db, { chatId: row.chat_id as ChatId, messageId });
  return { messageId, calls: calls.map(readCommittedCall), isFinal: calls.length === 0 };
}

/** The chat, whose running turn this is. */
export async function requireActiveTurn(
  trx: Transaction<Schema>,
  chat: Selectable<ChatRow> | undefined,
  name: TurnName,
): Promise<Selectable<ChatRow>> {
  const turn = await findTurnRow(trx, name);
  if (chat?.active_turn === name.turn) {
    // An edit has hidden what this turn would go on with.
    if (turn === undefined || turn.epoch === chat.epoch) return chat;
    throw new Refusal('turn_closed', `turn ${name.turn} of chat ${name.chatId} is of an epoch that an edit has ended`);
  }
  // It was taken before it came here, so a store that doesn't know it has lost some of its past (I02).
  if (turn === undefined || turn.state === 'active') {
    throw new Refusal('store_rolled_back', `the store doesn't know that turn ${name.turn} of chat ${name.chatId} runs`);
  }
  // T1: a turn that isn't the chat's running one commits nothing.
  throw new Refusal('turn_closed', `turn ${name.turn} of chat ${name.chatId} is not its running turn`);
}

function requireIdentity(row: Selectable<StepRow>): { messageId: MessageId; stepNonce: string } {
  if (row.message_id === null || row.nonce === null) {
    throw new CodedError('invariant_broken', `step ${row.turn}/${row.step} of chat ${row.chat_id} has no message id`);
  }
  return { messageId: row.message_id as MessageId, stepNonce: row.nonce };
}

function closedStep(name: { turn: number; step: number }): Refusal {
  return new Refusal('step_closed', `step ${name.step} of turn ${name.turn} is closed`);
}

function overtaken(name: { turn: number; step: number }): CodedError {
  return new CodedError('too_busy', `another attempt has taken over step ${name.step} of turn ${name.turn}`);
}
