/** Calls: committed as reserved, given a target once (K5), given a result once (C3). */
import type { Selectable, Transaction } from 'kysely';
import type {
  RecordCancelRequestsInput,
  RecordResultInput,
  RecordResultResult,
  RecordTargetsInput,
  RecordTargetsResult,
} from '../contract/activity-interfaces.ts';
import type { CallOutcome, Evidence, ResultStatus } from '../contract/calls.ts';
import { CodedError, Refusal } from '../contract/failures.ts';
import type { ChatId, ExecutionKey } from '../contract/ids.ts';
import type { Target } from '../contract/target.ts';
import { hasResult, readCall, readTarget, snapshotOf } from './call-row.ts';
import type { StoredCall } from './call-row.ts';
import type { Database } from './database.ts';
import type { CallRow, Schema } from './schema.ts';
import { toStoredText } from './stored-text.ts';
import { appendEvents } from './stream-events.ts';
import { changeChat } from './transaction.ts';

/**
 * Writes the target into rows that have none and are not resolved; what a row holds wins, also after a workflow reset
 * (K5). Throws `step_closed` for a call that was resolved without a target: it must not be dispatched any more.
 */
export async function recordTargets(db: Database, input: RecordTargetsInput): Promise<RecordTargetsResult> {
  return changeChat(db, input.chatId, async (trx) => {
    const targets: Target[] = [];
    for (const key of input.keys) targets.push(await recordTarget(trx, { ...input, key }));
    return { targets };
  });
}

async function recordTarget(
  trx: Transaction<Schema>,
  input: { chatId: ChatId; key: ExecutionKey; target: Target },
): Promise<Target> {
  const row = await requireCallRow(trx, input);
  const held = readTarget(row);
  if (held !== undefined) return held;
  if (hasResult(row)) {
    throw new Refusal('step_closed', `call ${input.key} was resolved (${row.status}) without having been dispatched`);
  }
  if (input.target.agentId !== row.agent_id) {
    throw new Refusal(
      'bad_request',
      `call ${input.key} belongs to agent ${row.agent_id}, not ${input.target.agentId}`,
      'target',
    );
  }
  await trx
    .updateTable('calls')
    .set({ target: JSON.stringify(input.target) })
    .where('chat_id', '=', input.chatId)
    .where('key', '=', input.key)
    .execute();
  return input.target;
}

/** Gives the call its one result. A call that has one keeps it; the answer says which (C3). */
export async function recordResult(db: Database, input: RecordResultInput): Promise<RecordResultResult> {
  return changeChat(db, input.chatId, async (trx) => {
    const row = await requireCallRow(trx, input);
    if (hasResult(row)) return heldResult(row);
    const status = input.isStillAsked === true ? 'cancel_requested' : input.outcome.status;
    await resolveCallRow(trx, row, input.outcome, status);
    return { status, evidence: input.outcome.evidence };
  });
}

/** What a row with a result holds now. */
export function heldResult(row: Selectable<CallRow>): RecordResultResult {
  if (row.evidence === null) throw new CodedError('invariant_broken', `call ${row.key} is resolved without evidence`);
  return { status: row.status as ResultStatus, evidence: JSON.parse(row.evidence) as Evidence };
}

/** Shows that the end of these calls was asked for. Calls that have their result already keep their status. */
export async function recordCancelRequests(db: Database, input: RecordCancelRequestsInput): Promise<void> {
  await changeChat(db, input.chatId, async (trx) => {
    for (const key of input.keys) {
      const row = await requireCallRow(trx, { chatId: input.chatId, key });
      if (!hasResult(row) && row.status !== 'cancel_requested') {
        await updateCallRow(trx, row, { status: 'cancel_requested' });
      }
    }
  });
}

/** Writes an outcome into an open row and tells the watchers. */
export async function resolveCallRow(
  trx: Transaction<Schema>,
  row: Selectable<CallRow>,
  outcome: CallOutcome,
  status: ResultStatus = outcome.status,
): Promise<void> {
  await updateCallRow(trx, row, { ...outcomeColumns(outcome), status });
}

/** Changes a row and tells the watchers. */
export async function updateCallRow(
  trx: Transaction<Schema>,
  row: Selectable<CallRow>,
  columns: Partial<CallRow>,
): Promise<void> {
  await trx.updateTable('calls').set(columns).where('chat_id', '=', row.chat_id).where('key', '=', row.key).execute();
  await appendEvents(trx, row.chat_id as ChatId, [
    { type: 'call', call: snapshotOf(readCall({ ...row, ...columns })) },
  ]);
}

export type OutcomeColumns = Pick<
  CallRow,
  'status' | 'settled_at' | 'evidence' | 'outcome' | 'result_text' | 'is_error' | 'handle' | 'exit_code' | 'resolved_at'
>;

/** The columns of a resolved row. */
export function outcomeColumns(outcome: CallOutcome): OutcomeColumns {
  const { text, ...rest } = outcome;
  return {
    status: outcome.status,
    evidence: JSON.stringify(outcome.evidence),
    outcome: JSON.stringify(rest),
    result_text: toStoredText(text),
    is_error: isErrorOutcome(outcome) ? 1 : 0,
    handle: outcome.handle ?? null,
    exit_code: outcome.exit?.code ?? null,
    resolved_at: new Date().toISOString(),
    settled_at: null,
  };
}

/** What a model should read as "that did not work": also a plain exit that isn't 0 (R3). */
function isErrorOutcome(outcome: CallOutcome): boolean {
  const { status, evidence, exit } = outcome;
  if (status === 'exited') return evidence.code !== 'signalled' && exit?.code !== 0;
  return status !== 'detached' && evidence.code !== 'read';
}

export async function findCall(
  db: Database,
  input: { chatId: ChatId; key: ExecutionKey },
): Promise<StoredCall | undefined> {
  const row = await findCallRow(db, input);
  return row === undefined ? undefined : readCall(row);
}

/** The calls of a chat, or of one of its turns, in the order in which they were asked for. */
export async function listCalls(
  db: Database,
  input: { chatId: ChatId; turn?: number },
): Promise<readonly StoredCall[]> {
  return (await listCallRows(db, input)).map(readCall);
}

export interface CallRange {
  readonly chatId: ChatId;
  readonly turn?: number;
  /** The messages that asked for them, from the first to the last. */
  readonly fromId?: number;
  readonly toId?: number;
}

/** In the order in which they were asked for. */
export async function listCallRows(db: Database, range: CallRange): Promise<Selectable<CallRow>[]> {
  return selectCalls(db, range).selectAll().execute();
}

/** The same, for those who choose the columns. */
export function selectCalls(db: Database, { chatId, turn, fromId, toId }: CallRange) {
  let query = db.selectFrom('calls').where('chat_id', '=', chatId);
  if (turn !== undefined) query = query.where('turn', '=', turn);
  if (fromId !== undefined) query = query.where('message_id', '>=', fromId);
  if (toId !== undefined) query = query.where('message_id', '<=', toId);
  return query.orderBy('message_id').orderBy('position');
}

/** Of one assistant message. */
export async function listAskedCallRows(
  db: Database,
  { chatId, messageId }: { readonly chatId: ChatId; readonly messageId: number },
): Promise<Selectable<CallRow>[]> {
  return listCallRows(db, { chatId, fromId: messageId, toId: messageId });
}

export async function findCallRow(
  db: Database,
  input: { chatId: ChatId; key: ExecutionKey },
): Promise<Selectable<CallRow> | undefined> {
  return db
    .selectFrom('calls')
    .selectAll()
    .where('chat_id', '=', input.chatId)
    .where('key', '=', input.key)
    .executeTakeFirst();
}

export async function requireCallRow(
  db: Database,
  input: { chatId: ChatId; key: ExecutionKey },
): Promise<Selectable<CallRow>> {
  const row = await findCallRow(db, input);
  if (row !== undefined) return row;
  // Only calls that the store itself had committed are asked for: it has lost some of its past (I02).
  throw new Refusal('store_rolled_back', `the store has no call ${input.key} in chat ${input.chatId}`, 'key');
}
