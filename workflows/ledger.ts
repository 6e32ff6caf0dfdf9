/**
 * What may become of a call, as data: nine statuses, the events between them, the evidence that each end needs.
 *
 * Owns: the legality of a step. Doesn't own: where evidence comes from, what is stored.
 * 1. A call gets one result, which never changes (C3); a later truth moves the status and is kept beside it.
 * 2. An end needs evidence that can prove it; doubt proves `unknown` only (K2).
 * 3. Without a target nothing was dispatched, so no agent's word counts, and with one only an agent's word does (K5);
 *    once a process has been seen, no evidence that nothing ran is believed.
 */
import { isResolved, mayMoveTo } from '../contract/calls.ts';
import type {
  CallStatus,
  CommittedCall,
  Evidence,
  EvidenceCode,
  ResolvedStatus,
  ResultStatus,
} from '../contract/calls.ts';
import type { Handle } from '../contract/ids.ts';
import type { Target } from '../contract/target.ts';

export interface LedgerEntry {
  readonly status: CallStatus;
  readonly target?: Target;
  readonly handle?: Handle;
  readonly exitCode?: number;
  /** The call's one result is stored. It may have been before this run, which then doesn't know it. */
  readonly hasResult: boolean;
  /** The call's one result, as the model reads it. */
  readonly result?: LedgerResult;
  /** What became known after the result; the last one is the status. */
  readonly lateTruths: readonly LedgerResult[];
}

export interface LedgerResult {
  readonly status: ResolvedStatus;
  readonly evidence: Evidence;
}

export type LedgerEvent =
  | { readonly type: 'dispatched'; readonly target: Target }
  | { readonly type: 'seen'; readonly handle: Handle }
  | { readonly type: 'cancel_requested' }
  /** The turn moves on without the end that it asked for: "unknown" is the result, and a settle goes on asking. */
  | { readonly type: 'let_go'; readonly evidence: Evidence }
  | ({ readonly type: 'resolved' } & LedgerEnd)
  | ({ readonly type: 'late_truth' } & LedgerEnd);

export interface LedgerEnd extends LedgerResult {
  readonly handle?: Handle;
  readonly exitCode?: number;
}

export type LedgerRefusalCode =
  | 'already_resolved'
  | 'not_resolved'
  | 'wrong_status'
  | 'evidence_mismatch'
  | 'never_dispatched'
  | 'maybe_dispatched'
  | 'process_was_seen';

export type LedgerStep =
  | { readonly isLegal: true; readonly entry: LedgerEntry }
  | { readonly isLegal: false; readonly code: LedgerRefusalCode; readonly message: string };

/** Which statuses each event may come from, and where it leads (an end leads to its own status). */
export const STEPS = {
  dispatched: { from: ['reserved'], to: 'starting' },
  seen: { from: ['starting', 'running'], to: 'running' },
  cancel_requested: { from: ['reserved', 'starting', 'running', 'cancel_requested'], to: 'cancel_requested' },
  let_go: { from: ['cancel_requested'], to: 'cancel_requested' },
  resolved: { from: ['reserved', 'starting', 'running', 'cancel_requested'], to: 'its own' },
  // From `exited` only where the exit is a person's word.
  late_truth: { from: ['cancel_requested', 'exited', 'detached', 'canceled', 'unknown', 'no_effect'], to: 'its own' },
} as const satisfies Record<LedgerEvent['type'], { from: readonly CallStatus[]; to: CallStatus | 'its own' }>;

/** What proves each end. */
export const EVIDENCE_OF: Readonly<Record<ResolvedStatus, readonly EvidenceCode[]>> = {
  // The last one: a signal has no exit; that it was sent is all that was asked for.
  exited: ['exit', 'operator', 'signalled'],
  // The last two: every attempt of execute ended without a value, and the agent says that the command runs.
  detached: ['background', 'budget', 'attempt_ended', 'trust_window'],
  canceled: ['killed', 'fenced', 'void', 'not_dispatched'],
  unknown: [
    'absent',
    'lost',
    'expired',
    'journal_replaced',
    'journal_doubtful',
    'trust_window',
    'attempt_ended',
    'agent_silent',
    'settle_gave_up',
    'operator',
    'signalled',
  ],
  no_effect: [
    'void',
    'fenced',
    'spawn_failed',
    'not_dispatched',
    'invalid_arguments',
    'input_mismatch',
    'operator',
    'read',
  ],
};

/** Ends that need no agent: all that can be said of a call without a target. */
const NEEDS_NO_TARGET: readonly EvidenceCode[] = ['not_dispatched', 'invalid_arguments', 'operator'];

/** Evidence that no process of this call was ever made. */
const NOTHING_RAN: readonly EvidenceCode[] = ['void', 'fenced', 'spawn_failed', 'not_dispatched', 'invalid_arguments'];

/** A call as its row has it. What was only observed before (`starting`, `running`) is observed anew. */
export function openEntry(committed: Pick<CommittedCall, 'status' | 'target' | 'hasResult'>): LedgerEntry {
  const isObservation = committed.status === 'starting' || committed.status === 'running';
  return {
    status: isObservation ? 'reserved' : committed.status,
    hasResult: committed.hasResult === true || isResolved(committed.status),
    lateTruths: [],
    ...(committed.target === undefined ? {} : { target: committed.target }),
  };
}

/** One step of a call's life, or why there is no such step; the entry itself is never changed. */
export function applyToLedger(entry: LedgerEntry, event: LedgerEvent): LedgerStep {
  const refusal = refuseStatus(entry, event);
  if (refusal !== undefined) return refusal;
  switch (event.type) {
    case 'dispatched':
      return legal({ ...entry, status: 'starting', target: event.target });
    case 'seen':
      return legal({ ...entry, status: 'running', handle: event.handle });
    case 'cancel_requested':
      return legal({ ...entry, status: 'cancel_requested' });
    case 'let_go': {
      const result = { status: 'unknown', evidence: event.evidence } as const;
      return refuseEvidence(entry, result) ?? legal({ ...entry, hasResult: true, result });
    }
    case 'resolved':
      return refuseEvidence(entry, event) ?? legal({ ...end(entry, event), hasResult: true, result: resultOf(event) });
    case 'late_truth':
      return (
        refuseLateTruth(entry, event) ??
        refuseEvidence(entry, event) ??
        legal({ ...end(entry, event), lateTruths: [...entry.lateTruths, resultOf(event)] })
      );
  }
}

function end(entry: LedgerEntry, event: LedgerEnd): LedgerEntry {
  return {
    ...entry,
    status: event.status,
    ...(event.handle === undefined ? {} : { handle: event.handle }),
    ...(event.exitCode === undefined ? {} : { exitCode: event.exitCode }),
  };
}

function resultOf(event: LedgerEnd): LedgerResult {
  return { status: event.status, evidence: event.evidence };
}

function legal(entry: LedgerEntry): LedgerStep {
  return { isLegal: true, entry };
}

function refuse(code: LedgerRefusalCode, message: string): LedgerStep {
  return { isLegal: false, code, message };
}

function refuseStatus(entry: LedgerEntry, event: LedgerEvent): LedgerStep | undefined {
  if (event.type === 'late_truth' && !entry.hasResult) {
    return refuse('not_resolved', `a call that is ${entry.status} has no result yet: resolve it instead`);
  }
  if (event.type !== 'late_truth' && entry.hasResult) {
    return refuse('already_resolved', `the call is ${entry.status}: its one result stands`);
  }
  const from: readonly CallStatus[] = STEPS[event.type].from;
  if (from.includes(entry.status)) return undefined;
  return refuse('wrong_status', `"${event.type}" can't come after ${entry.status}`);
}

function refuseLateTruth(entry: LedgerEntry, event: LedgerEnd): LedgerStep | undefined {
  const evidence = (entry.lateTruths.at(-1) ?? entry.result)?.evidence;
  if (mayMoveTo(event, { status: entry.status as ResultStatus, evidence })) return undefined;
  return refuse('wrong_status', `a call that is ${entry.status} can't turn out to be ${event.status}`);
}

function refuseEvidence(entry: LedgerEntry, event: LedgerResult): LedgerStep | undefined {
  const { code } = event.evidence;
  if (!EVIDENCE_OF[event.status].includes(code)) {
    return refuse('evidence_mismatch', `"${code}" is no proof of ${event.status}`);
  }
  if (entry.target === undefined && !NEEDS_NO_TARGET.includes(code)) {
    return refuse('never_dispatched', `the call has no target, so "${code}" can't be about it`);
  }
  if (entry.target !== undefined && code === 'not_dispatched') {
    return refuse('maybe_dispatched', 'the call has a target, so it may have been dispatched: ask its agent');
  }
  if (entry.handle !== undefined && NOTHING_RAN.includes(code)) {
    return refuse('process_was_seen', `process ${entry.handle} was seen, so "${code}" can't be true`);
  }
  return undefined;
}
