/** What the parts of a turn share while it runs: its state, the interrupt, its times; and the one way to move a call. */
import { log, setCurrentDetails } from '@temporalio/workflow';
import type { RecordResultResult } from '../contract/activity-interfaces.ts';
import type { CallOutcome, EvidenceCode } from '../contract/calls.ts';
import type { ResolveCallAnswer } from '../contract/operator.ts';
import type { Target } from '../contract/target.ts';
import type { TurnTimings } from '../contract/turn.ts';
import { fillTimings, recordResultActivity } from './activity-options.ts';
import { callsTable } from './calls-table.ts';
import { Interrupt } from './interrupt.ts';
import { applyToLedger } from './ledger.ts';
import type { LedgerEntry, LedgerEvent } from './ledger.ts';
import { OperatorRequests } from './operator-requests.ts';
import { asDefect } from './outcomes.ts';
import { sendingOf } from './sending.ts';
import { startSettle } from './start-settle.ts';
import { callViews, isOpen, recordedEvent } from './turn-state.ts';
import type { CallRecord, TurnState } from './turn-state.ts';

/** The journal that was dispatched to is not the one that answers. */
const CONFLICTS: readonly EvidenceCode[] = ['journal_replaced', 'journal_doubtful'];

export interface TurnContext {
  readonly state: TurnState;
  readonly interrupt: Interrupt;
  readonly operator: OperatorRequests;
  readonly timings: Required<TurnTimings>;
}

export function newTurnContext(state: TurnState): TurnContext {
  return {
    state,
    interrupt: new Interrupt(),
    operator: new OperatorRequests(),
    timings: fillTimings(state.input.timings),
  };
}

/** Moves a call in the ledger; a refused step changes nothing and is logged as the defect that it is. */
export function moveCall(context: TurnContext, record: CallRecord, event: LedgerEvent): void {
  const step = applyToLedger(record.entry, event);
  if (!step.isLegal) {
    log.error('the ledger refused a step', { key: record.call.key, event: event.type, reason: step.message });
    return;
  }
  record.entry = step.entry;
  showCalls(context);
}

export interface ResolveOptions {
  /** The truth is not known, or was not asked for in time: a settle goes on asking, started first (K7). */
  readonly settle?: { readonly mode: 'kill' | 'fence'; readonly target: Target };
  /** What the person is told whose request this is. */
  readonly answer?: (recorded: RecordResultResult) => ResolveCallAnswer;
}

/** Stores a call's one result at once, whatever its siblings do (C2), and moves it to what the row then holds (C3). */
export async function resolveCall(
  context: TurnContext,
  record: CallRecord,
  found: CallOutcome,
  { settle, answer }: ResolveOptions = {},
): Promise<void> {
  const { chatId, turn } = context.state.input;
  const { key } = record.call;
  const isStillAsked = settle?.mode === 'kill';
  const asStatus = { status: isStillAsked ? 'cancel_requested' : found.status, evidence: found.evidence } as const;
  const claim = applyToLedger(record.entry, recordedEvent(found, asStatus));
  const outcome = claim.isLegal ? found : asDefect(found, claim.message);
  if (!claim.isLegal) log.error('the ledger refused an outcome', { key, reason: claim.message });
  if (settle !== undefined) await startSettleOf(context, record, { ...settle, cause: outcome.evidence.detail });
  const recorded = await recordResultActivity(key, outcome).recordResult({
    chatId,
    turn,
    key,
    outcome,
    ...(isStillAsked && claim.isLegal ? { isStillAsked } : {}),
  });
  const event = recordedEvent(outcome, recorded);
  moveCall(context, record, event);
  // A row that holds what the ledger refuses is a defect, logged above; still it is what the model reads (C3).
  if (isOpen(record)) record.entry = { ...record.entry, ...heldByRow(recorded) };
  context.operator.answerAll(key, recorded, answer?.(recorded));
  // What was known of the agent is wrong; the next call asks anew, however fresh it seems.
  if (CONFLICTS.includes(outcome.evidence.code)) delete context.state.lastTarget;
}

function heldByRow({ status, evidence }: RecordResultResult): Pick<LedgerEntry, 'status' | 'hasResult' | 'result'> {
  return {
    status,
    hasResult: true,
    result: { status: status === 'cancel_requested' ? 'unknown' : status, evidence },
  };
}

function startSettleOf(
  { state, timings }: TurnContext,
  { call }: CallRecord,
  settle: { readonly mode: 'kill' | 'fence'; readonly target: Target; readonly cause: string },
): Promise<void> {
  const { chatId, turn } = state.input;
  const { key, nonce, summary } = call;
  const { settleForMs } = timings;
  return startSettle({ chatId, turn, key, nonce, summary, settleForMs, ...sendingOf(call), ...settle });
}

/** Costs no history; the Temporal UI asks for it by a query. */
export function showCalls(context: TurnContext): void {
  setCurrentDetails(callsTable(callViews(context.state)));
}
