/** The assistant message and its calls, stored in one transaction before anything is dispatched (F10). */
import type { Transaction } from 'kysely';
import type { GenerateStepResult } from '../contract/activity-interfaces.ts';
import type { CallOutcome, CallRequest } from '../contract/calls.ts';
import { buildExecutionKey } from '../contract/execution-key.ts';
import { callNonce } from '../contract/ids.ts';
import type { AgentId, ToolCallId } from '../contract/ids.ts';
import { CALLS_SIDE_BY_SIDE_MAX } from '../contract/limits.ts';
import type { Target } from '../contract/target.ts';
import { readCall, readCommittedCall } from './call-row.ts';
import { askedCallOf } from './chat-snapshot.ts';
import { listAskedCallRows, outcomeColumns } from './calls.ts';
import type { OutcomeColumns } from './calls.ts';
import type { Database } from './database.ts';
import { insertMessage } from './message-rows.ts';
import type { Schema } from './schema.ts';
import type { StepUsage } from './step-usage.ts';
import { findStepRow, updateStep } from './step-rows.ts';
import { readCommittedStep, requireHeldStep } from './steps.ts';
import type { StepAttempt } from './steps.ts';
import { toStoredText } from './stored-text.ts';
import { appendEvents, dropParts } from './stream-events.ts';
import { changeChat } from './transaction.ts';

/** A call that is about to be committed. With `outcome` it can't be carried out, and is committed with its result. */
export interface CallDraft {
  /** Unique within the message. */
  readonly toolCallId: ToolCallId;
  readonly toolName: string;
  /** A JSON object as text, well-formed. */
  readonly argumentsJson: string;
  readonly summary: string;
  readonly request?: CallRequest;
  readonly outcome?: CallOutcome;
}

export interface CommitStepInput {
  readonly text: string;
  readonly calls: readonly CallDraft[];
  readonly agentId: AgentId;
  /** For the calls that are dispatched at once; left out when it isn't fresh any more. */
  readonly target?: Target;
  readonly usage?: StepUsage;
}

/**
 * Commits what an attempt generated. If another attempt has committed the step already, that stands and is returned.
 * Throws `step_closed`, `turn_closed`, or `too_busy` when the attempt doesn't hold the step; then nothing is stored.
 */
export async function commitStep(
  db: Database,
  attempt: StepAttempt,
  input: CommitStepInput,
): Promise<GenerateStepResult> {
  const { chatId, turn, step, messageId } = attempt;
  return changeChat(db, chatId, async (trx, chat): Promise<GenerateStepResult> => {
    const row = await findStepRow(trx, attempt);
    if (row?.state === 'committed') return readCommittedStep(trx, row);
    await requireHeldStep(trx, chat, attempt);
    const text = toStoredText(input.text);
    await insertMessage(trx, { chatId, messageId, role: 'assistant', turn, step, text });
    const targeted = callsDispatchedAtOnce(input.calls);
    for (const [position, draft] of input.calls.entries()) {
      const target = targeted.has(draft) ? input.target : undefined;
      await insertCall(trx, { attempt, agentId: input.agentId, target, draft, position });
    }
    await updateStep(trx, attempt, {
      state: 'committed',
      attempt_token: null,
      has_parts: 0,
      usage: input.usage === undefined ? null : JSON.stringify(input.usage),
    });
    await dropParts(trx, attempt);
    const rows = await listAskedCallRows(trx, { chatId, messageId });
    const calls = rows.map((call) => askedCallOf(readCall(call)));
    await appendEvents(trx, chatId, [{ type: 'message', role: 'assistant', id: messageId, turn, step, text, calls }]);
    return { messageId, calls: rows.map(readCommittedCall), isFinal: rows.length === 0 };
  });
}

/**
 * A call that is committed with its result is never dispatched, so it has no target (K5). One that will wait for a slot
 * gets its own just before its dispatch: by then this one may be old, and the machine another (I15).
 */
function callsDispatchedAtOnce(calls: readonly CallDraft[]): ReadonlySet<CallDraft> {
  return new Set(calls.filter((draft) => draft.outcome === undefined).slice(0, CALLS_SIDE_BY_SIDE_MAX));
}

const RESERVED: OutcomeColumns = {
  status: 'reserved',
  evidence: null,
  outcome: null,
  result_text: null,
  is_error: null,
  handle: null,
  exit_code: null,
  resolved_at: null,
  settled_at: null,
};

interface CallToInsert {
  readonly attempt: StepAttempt;
  readonly agentId: AgentId;
  readonly target: Target | undefined;
  readonly draft: CallDraft;
  readonly position: number;
}

async function insertCall(
  trx: Transaction<Schema>,
  { attempt, agentId, target, draft, position }: CallToInsert,
): Promise<void> {
  await trx
    .insertInto('calls')
    .values({
      chat_id: attempt.chatId,
      key: buildExecutionKey({ messageId: attempt.messageId, toolCallId: draft.toolCallId }),
      message_id: attempt.messageId,
      turn: attempt.turn,
      position,
      tool_call_id: draft.toolCallId,
      tool_name: toStoredText(draft.toolName),
      arguments: draft.argumentsJson,
      request: draft.request === undefined ? null : JSON.stringify(draft.request),
      nonce: callNonce(attempt.stepNonce, position),
      summary: toStoredText(draft.summary),
      agent_id: agentId,
      target: target === undefined ? null : JSON.stringify(target),
      created_at: new Date().toISOString(),
      ...(draft.outcome === undefined ? RESERVED : outcomeColumns(draft.outcome)),
    })
    .execute();
}
