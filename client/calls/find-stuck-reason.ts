/** Why a call doesn't get on, for a person who has to do something about it. Pure: everything comes in. */
import { isResolved } from '../../contract/calls.ts';
import type { CallStatus } from '../../contract/calls.ts';
import { HEARTBEAT_TIMEOUT_MS_DEFAULT } from '../../contract/limits.ts';
import { formatDuration, timeOfDay } from '../watch/format-time.ts';
import type { PendingActivity } from '../watch/pending-activities.ts';

export type StuckCode =
  | 'turn_closed'
  | 'paused'
  | 'agent_unreachable'
  | 'no_worker'
  | 'not_taken'
  | 'heartbeat_overdue'
  | 'past_budget'
  | 'attempts_rising'
  | 'no_turn_worker'
  | 'cancel_requested';

export interface StuckReason {
  readonly code: StuckCode;
  readonly text: string;
}

export interface Observation {
  readonly status: CallStatus;
  /** When the call was asked for. */
  readonly createdMs: number;
  readonly pending?: PendingActivity;
  /** Of the turn; `unknown` when Temporal was not asked or did not answer. */
  readonly workflow: 'running' | 'closed' | 'unknown';
  /** Whether a turn worker answered the `calls` query; undefined when it was not asked. */
  readonly hasTurnWorker?: boolean;
  /** Since the last poll of the agent's queue; `none`: nobody polls it; undefined: not looked at. */
  readonly lastPollAgoMs?: number | 'none';
}

/** A worker asks anew at least once a minute; one that was silent for longer is gone. */
const POLL_SILENCE_MS = 70_000;
/** A worker that is there takes a task in milliseconds. */
const TAKEN_WITHIN_MS = 5000;
/** The agent ends a call at its budget; a little later is no news. */
const BUDGET_MARGIN_MS = 10_000;
const ATTEMPTS_MAX = 5;

/** Undefined for a call that has its result, and for one that gets on. */
export function findStuckReason(seen: Observation, nowMs: number): StuckReason | undefined {
  const { status, pending, workflow, hasTurnWorker, createdMs } = seen;
  if (isResolved(status)) return undefined;
  if (workflow === 'closed' && status === 'cancel_requested') {
    return { code: 'cancel_requested', text: 'its turn has moved on; a settle goes on asking its agent for its end' };
  }
  if (workflow === 'closed') {
    return { code: 'turn_closed', text: 'its turn has ended without a result for it: it was terminated, or reset' };
  }
  const ofActivity = pending === undefined ? undefined : stuckActivity(pending, seen, nowMs);
  if (ofActivity !== undefined) return ofActivity;
  if (hasTurnWorker === false && nowMs - createdMs > TAKEN_WITHIN_MS) {
    return { code: 'no_turn_worker', text: 'no turn worker answers for its turn: start one' };
  }
  if (status === 'cancel_requested')
    return { code: 'cancel_requested', text: 'its agent has not answered the cancel yet' };
  return undefined;
}

function stuckActivity(pending: PendingActivity, seen: Observation, nowMs: number): StuckReason | undefined {
  const { state, attempt, heartbeat, lastFailure } = pending;
  if (state === 'paused') {
    return { code: 'paused', text: 'paused by an operator; its time-outs sleep until it is unpaused' };
  }
  if (heartbeat?.unreachableSince !== undefined) {
    const since = Date.parse(heartbeat.unreachableSince);
    const text = `agent unreachable since ${timeOfDay(since)} (${formatDuration(nowMs - since)}); start it: latchkey agent`;
    return { code: 'agent_unreachable', text };
  }
  if (state === 'scheduled') return notTaken(pending, seen, nowMs);
  const overdue = heartbeatOverdue(pending, nowMs);
  if (overdue !== undefined) return overdue;
  if (heartbeat?.deadline !== undefined && nowMs - Date.parse(heartbeat.deadline) > BUDGET_MARGIN_MS) {
    const text = `${formatDuration(nowMs - Date.parse(heartbeat.deadline))} past its budget: it should have been let go`;
    return { code: 'past_budget', text };
  }
  if (attempt < ATTEMPTS_MAX) return undefined;
  const why = lastFailure === undefined ? '' : `; the last one ended by: ${lastFailure}`;
  return { code: 'attempts_rising', text: `attempt ${attempt}${why}` };
}

function notTaken(pending: PendingActivity, { lastPollAgoMs }: Observation, nowMs: number): StuckReason | undefined {
  const { attempt, scheduledMs, nextAttemptMs, lastFailure } = pending;
  if (lastPollAgoMs === 'none' || (lastPollAgoMs !== undefined && lastPollAgoMs > POLL_SILENCE_MS)) {
    const text = "no worker polls the agent's queue: start its execute worker";
    return { code: 'no_worker', text: attempt > 1 ? `${text} (attempt ${attempt} waits)` : text };
  }
  const dueMs = nextAttemptMs ?? scheduledMs ?? nowMs;
  if (nowMs - dueMs > TAKEN_WITHIN_MS) {
    const polled = lastPollAgoMs === undefined ? '' : `; a worker last asked ${formatDuration(lastPollAgoMs)} ago`;
    const text = `waits for a worker for ${formatDuration(nowMs - dueMs)}${polled}: all slots are taken, or it has just gone`;
    return { code: 'not_taken', text };
  }
  if (attempt < ATTEMPTS_MAX) return undefined;
  return {
    code: 'attempts_rising',
    text: `attempt ${attempt} waits${lastFailure === undefined ? '' : `: ${lastFailure}`}`,
  };
}

function heartbeatOverdue(pending: PendingActivity, nowMs: number): StuckReason | undefined {
  const { lastHeartbeatMs, startedMs, heartbeatTimeoutMs = HEARTBEAT_TIMEOUT_MS_DEFAULT } = pending;
  const heardMs = Math.max(lastHeartbeatMs ?? 0, startedMs ?? 0);
  if (heardMs === 0 || nowMs - heardMs <= heartbeatTimeoutMs) return undefined;
  const text = `no heartbeat for ${formatDuration(nowMs - heardMs)} (time-out ${formatDuration(heartbeatTimeoutMs)}): its worker is gone, the next attempt is to come`;
  return { code: 'heartbeat_overdue', text };
}
