/** All that a turn remembers, in one serialisable value, so that it can move to another run between two steps. */
import type { CallOutcome, CommittedCall } from '../contract/calls.ts';
import type { RecordResultResult } from '../contract/activity-interfaces.ts';
import type { AgentId, MessageId } from '../contract/ids.ts';
import type { Target } from '../contract/target.ts';
import type { CallView, TurnInput } from '../contract/turn.ts';
import type { LedgerEntry, LedgerEvent } from './ledger.ts';

export interface TurnState {
  readonly input: TurnInput;
  /** Message ids up to and including this one are taken. */
  highestMessageId: number;
  /** Committed steps. */
  steps: number;
  /** Summaries that were asked for; absent: none. */
  compactions?: number;
  lastMessageId?: MessageId;
  /** The last answer of describeAgent; of use only while it is fresh. */
  lastTarget?: TimedTarget;
  readonly calls: CallRecord[];
  /** Calls of earlier runs of this turn that are not among `calls` any more. */
  readonly earlierCalls: number;
}

/** A target and when it was asked for, by workflow time: its age can't be more than what has passed since. */
export interface TimedTarget {
  readonly agentId: AgentId;
  readonly target: Target;
  readonly chatHighestMessageId: number;
  readonly askedAtMs: number;
}

export interface CallRecord {
  readonly step: number;
  readonly call: CommittedCall;
  entry: LedgerEntry;
}

export function newTurnState(input: TurnInput): TurnState {
  return { input, highestMessageId: 0, steps: 0, calls: [], earlierCalls: 0 };
}

export function isOpen(record: CallRecord): boolean {
  return !record.entry.hasResult;
}

/** What the ledger is told when a call's row holds its result: the row's word, with what the outcome knows. */
export function recordedEvent(outcome: CallOutcome, recorded: RecordResultResult): LedgerEvent {
  const { status, evidence } = recorded;
  if (status === 'cancel_requested') return { type: 'let_go', evidence };
  const isOurs = status === outcome.status;
  return {
    type: 'resolved',
    status,
    evidence,
    ...(isOurs && outcome.handle !== undefined ? { handle: outcome.handle } : {}),
    ...(isOurs && outcome.exit !== undefined ? { exitCode: outcome.exit.code } : {}),
  };
}

/** The rows of the `calls` query, in the order in which they were asked for. */
export function callViews(state: TurnState): CallView[] {
  return state.calls.map(({ call, step, entry }) => ({
    key: call.key,
    step,
    toolName: call.toolName,
    summary: call.summary,
    status: entry.status,
    agentId: call.agentId,
    ...(entry.handle === undefined ? {} : { handle: entry.handle }),
    ...(entry.exitCode === undefined ? {} : { exitCode: entry.exitCode }),
    ...(entry.result === undefined ? {} : { evidence: entry.result.evidence }),
    ...(entry.target === undefined ? {} : { target: entry.target }),
  }));
}
