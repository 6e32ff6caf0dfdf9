/** Why a call doesn't get on, for a person who has to do something about it. Pure: everything comes in. */
import { isResolved } from '../../contract/calls.ts';
import type { CallStatus } from '../../contract/calls.ts';
import { HEARTBEAT_TIMEOUT_MS_DEFAULT, POLLER_SILENCE_MS_DEFAULT } from '../../contract/limits.ts';
import type { RetireAgent } from '../../contract/settle.ts';
import { formatDuration, timeOfDay } from '../watch/format-time.ts';
import type { PendingActivity } from '../watch/pending-activities.ts';

export type StuckCode =
  | 'turn_closed'
  | 'agent_retired'
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
  /** A worker that was silent for so long is gone. */
  readonly pollerSilenceMs?: number;
  /** Set when a person has declared the call's agent gone for good. */
  readonly retirement?: RetireAgent & { readonly at: string };
}

/** A worker that is there takes a task in milliseconds. */
const TAKEN_WITHIN_MS = 5000;
/** The agent ends a call at its budget; a little later is no news. */
const BUDGET_MARGIN_MS = 10_000;
const ATTEMPTS_MAX = 5;

/** Waits that end by the agent's word, or by that of a worker beside it: in vain when the agent was retired. */
const WAITS_FOR_AGENT: readonly StuckCode[] = [
  'agent_unreachable',
  'no_worker',
  'not_taken',
  'heartbeat_overdue',
  'cancel_requested',
];

/** Undefined for a call that has its result, and for one that gets on. */
export function findStuckReason(seen: Observation, nowMs: number): StuckReason | undefined {
  const reason = findReason(seen, nowMs);
  const { retirement, workflow } = seen;
  if (reason === undefined || retirement === undefined || !WAITS_FOR_AGENT.includes(reason.code)) return reason;
  const step = workflow === 'closed' ? 'say latchkey agent retire again' : 'latchkey call resolve ends the wait';
  const text = `its agent was retired by ${retirement.who} (${retirement.why}): ${step}`;
  return { code: 'agent_retired', text };
}

function findReason(seen: Observation, nowMs: number): StuckReason | undefined {
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
  const { lastPollAgoMs, pollerSilenceMs = POLLER_SILENCE_MS_DEFAULT } = seen;
  const waitedMs = waitedForWorkerMs(pending, nowMs);
  const isSilent = lastPollAgoMs === 'none' || (lastPollAgoMs !== undefined && lastPollAgoMs > pollerSilenceMs);
  if (isSilent && waitedMs > TAKEN_WITHIN_MS) {
    const text = "no worker polls the agent's queue: start its execute worker";
    return { code: 'no_worker', text: attempt > 1 ? `${text} (attempt ${attempt} waits)` : text };
  }
  const overdue = heartbeatOverdue(pending, nowMs);
  if (overdue !== undefined) return overdue;
  if (waitedMs > TAKEN_WITHIN_MS) {
    const polled =
      typeof lastPollAgoMs === 'number' ? `; a worker last asked ${formatDuration(lastPollAgoMs)} ago` : '';
    const text = `waits for a worker for ${formatDuration(waitedMs)}${polled}: all slots are taken, or it has just gone`;
    return { code: 'not_taken', text };
  }
  if (state !== 'scheduled' && heartbeat?.deadline !== undefined) {
    const pastMs = nowMs - Date.parse(heartbeat.deadline);
    if (pastMs > BUDGET_MARGIN_MS) {
      return { code: 'past_budget', text: `${formatDuration(pastMs)} past its budget: it should have been let go` };
    }
  }
  if (attempt < ATTEMPTS_MAX) return undefined;
  const why = lastFailure === undefined ? '' : `; the last one ended by: ${lastFailure}`;
  return { code: 'attempts_rising', text: `attempt ${attempt}${state === 'scheduled' ? ' waits' : ''}${why}` };
}

/** Since the attempt was due; 0 while it waits out a back-off, and when somebody has it. */
function waitedForWorkerMs({ state, scheduledMs, nextAttemptMs }: PendingActivity, nowMs: number): number {
  return state === 'scheduled' ? Math.max(nowMs - (nextAttemptMs ?? scheduledMs ?? nowMs), 0) : 0;
}

/**
 * Either the attempt that is under way is overdue, or the server has given it up and none after it was heard: a worker
 * that hangs keeps its open polls, so it is handed the next attempts too.
 */
function heartbeatOverdue(pending: PendingActivity, nowMs: number): StuckReason | undefined {
  const { state, attempt, lastHeartbeatMs, startedMs, isOfEarlierAttempt, hasTimedOut } = pending;
  const { heartbeatTimeoutMs = HEARTBEAT_TIMEOUT_MS_DEFAULT } = pending;
  const heardMs = Math.max(lastHeartbeatMs ?? 0, startedMs ?? 0);
  const isOverdue = state !== 'scheduled' && heardMs > 0 && nowMs - heardMs > heartbeatTimeoutMs;
  const isUnheard = hasTimedOut && (state === 'scheduled' || isOfEarlierAttempt) && lastHeartbeatMs !== undefined;
  const silentMs = nowMs - (isUnheard ? lastHeartbeatMs : heardMs);
  if (!isOverdue && !(isUnheard && silentMs > heartbeatTimeoutMs + TAKEN_WITHIN_MS)) return undefined;
  const next = attempt > 1 ? `, attempt ${attempt} is not heard either` : '';
  const text = `no heartbeat for ${formatDuration(silentMs)} (time-out ${formatDuration(heartbeatTimeoutMs)}): its worker hangs or is gone${next}`;
  return { code: 'heartbeat_overdue', text };
}
