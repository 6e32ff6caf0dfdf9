/** What the parts of a turn share while it runs: its state, the interrupt, its times; and the one way to move a call. */
import { log, setCurrentDetails } from '@temporalio/workflow';
import type { CallOutcome, EvidenceCode } from '../contract/calls.ts';
import type { TurnInput, TurnTimings } from '../contract/turn.ts';
import { fillTimings, recordResultActivity } from './activity-options.ts';
import { callsTable } from './calls-table.ts';
import { Interrupt } from './interrupt.ts';
import { applyToLedger } from './ledger.ts';
import type { LedgerEvent } from './ledger.ts';
import { asDefect } from './outcomes.ts';
import { callViews, isOpen, newTurnState, recordedEnd } from './turn-state.ts';
import type { CallRecord, TurnState } from './turn-state.ts';

/** The journal that was dispatched to is not the one that answers. */
const CONFLICTS: readonly EvidenceCode[] = ['journal_replaced', 'journal_doubtful'];

export interface TurnContext {
  readonly state: TurnState;
  readonly interrupt: Interrupt;
  readonly timings: Required<TurnTimings>;
}

export function newTurnContext(input: TurnInput): TurnContext {
  return { state: newTurnState(input), interrupt: new Interrupt(), timings: fillTimings(input.timings) };
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

/** Stores a call's one result at once, whatever its siblings do (C2), and moves it to what the row then holds (C3). */
export async function resolveCall(context: TurnContext, record: CallRecord, found: CallOutcome): Promise<void> {
  const { chatId, turn } = context.state.input;
  const claim = applyToLedger(record.entry, { type: 'resolved', ...recordedEnd(found, found) });
  const outcome = claim.isLegal ? found : asDefect(found, claim.message);
  if (!claim.isLegal) log.error('the ledger refused an outcome', { key: record.call.key, reason: claim.message });
  const { key } = record.call;
  const recorded = await recordResultActivity(key, outcome).recordResult({ chatId, turn, key, outcome });
  const end = recordedEnd(outcome, recorded);
  moveCall(context, record, { type: 'resolved', ...end });
  // A row that holds what the ledger refuses is a defect, logged above; still it is what the model reads (C3).
  if (isOpen(record)) record.entry = { ...record.entry, status: end.status, result: end };
  // What was known of the agent is wrong; the next call asks anew, however fresh it seems.
  if (CONFLICTS.includes(outcome.evidence.code)) delete context.state.lastTarget;
}

/** Costs no history; the Temporal UI asks for it by a query. */
export function showCalls(context: TurnContext): void {
  setCurrentDetails(callsTable(callViews(context.state)));
}
