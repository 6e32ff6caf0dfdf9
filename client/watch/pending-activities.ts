/** What Temporal tells of a turn's pending activities, heartbeat included. Needs no worker, so it is always true. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { ExecuteHeartbeat } from '../../contract/turn.ts';

type RawActivity = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];
type Timestamp = RawActivity['scheduledTime'];

export type PendingState = 'scheduled' | 'started' | 'cancel_requested' | 'paused';

export interface PendingActivity {
  readonly activityId: string;
  readonly type: string;
  readonly state: PendingState;
  readonly attempt: number;
  readonly scheduledMs?: number;
  readonly startedMs?: number;
  readonly lastHeartbeatMs?: number;
  /** When the next attempt is due: it waits out a back-off. */
  readonly nextAttemptMs?: number;
  readonly heartbeatTimeoutMs?: number;
  readonly lastFailure?: string;
  /** The attempt before this one ended by a time-out. */
  readonly hasTimedOut: boolean;
  readonly worker?: string;
  /** Of `execute`. */
  readonly heartbeat?: ExecuteHeartbeat;
  /** The running attempt hasn't beaten yet: the heartbeat is its predecessor's last word. */
  readonly isOfEarlierAttempt: boolean;
}

/** The protocol's numbers of PendingActivityState; its enum is in a package that only the SDK depends on. */
const STATES: Readonly<Record<number, PendingState>> = {
  2: 'started',
  3: 'cancel_requested',
  4: 'paused',
  5: 'paused',
};

export function readPendingActivities({ raw }: WorkflowExecutionDescription): PendingActivity[] {
  return (raw.pendingActivities ?? []).map(readActivity);
}

function readActivity(activity: RawActivity): PendingActivity {
  const startedMs = timeMs(activity.lastStartedTime);
  const lastHeartbeatMs = timeMs(activity.lastHeartbeatTime);
  const heartbeat = readHeartbeat(activity);
  const fields = {
    scheduledMs: timeMs(activity.scheduledTime),
    startedMs,
    lastHeartbeatMs,
    nextAttemptMs: timeMs(activity.nextAttemptScheduleTime),
    heartbeatTimeoutMs: timeMs(activity.activityOptions?.heartbeatTimeout),
    lastFailure: activity.lastFailure?.message || undefined,
    worker: activity.lastWorkerIdentity || undefined,
    heartbeat,
  };
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    activityId: activity.activityId ?? '',
    type: activity.activityType?.name ?? '',
    state: STATES[Number(activity.state)] ?? 'scheduled',
    attempt: activity.attempt ?? 1,
    hasTimedOut: Boolean(activity.lastFailure?.timeoutFailureInfo),
    isOfEarlierAttempt: lastHeartbeatMs !== undefined && lastHeartbeatMs < (startedMs ?? 0),
    ...(Object.fromEntries(known) as Partial<PendingActivity>),
  };
}

function readHeartbeat({ heartbeatDetails, activityType }: RawActivity): ExecuteHeartbeat | undefined {
  const data = heartbeatDetails?.payloads?.[0]?.data;
  if (!data || activityType?.name !== 'execute') return undefined;
  try {
    const details = JSON.parse(Buffer.from(data).toString('utf8')) as ExecuteHeartbeat;
    return details.v === 1 ? details : undefined;
  } catch {
    // Encrypted by a codec that we don't have: the rest is told all the same.
    return undefined;
  }
}

function timeMs(time: Timestamp): number | undefined {
  if (!time) return undefined;
  const ms = Number(time.seconds ?? 0) * 1000 + (time.nanos ?? 0) / 1e6;
  return ms === 0 ? undefined : ms;
}
