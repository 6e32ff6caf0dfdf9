/** Pending execute activities with what their heartbeats tell, as the Temporal UI shows them. */
import type { TurnHandle } from '../client/start-turn.ts';
import type { ExecuteHeartbeat } from '../contract/turn.ts';

export interface PendingCall {
  readonly activityId: string;
  readonly attempt: number;
  readonly heartbeat: ExecuteHeartbeat | undefined;
  /** The running attempt hasn't beaten yet: what is shown is its predecessor's last word. */
  readonly isOfEarlierAttempt: boolean;
}

export async function readPendingCalls(handle: TurnHandle): Promise<PendingCall[]> {
  const { raw } = await handle.describe();
  return (raw.pendingActivities ?? []).map((activity) => {
    const data = activity.heartbeatDetails?.payloads?.[0]?.data;
    const beatAt = Number(activity.lastHeartbeatTime?.seconds ?? 0) * 1e9 + (activity.lastHeartbeatTime?.nanos ?? 0);
    const startedAt = Number(activity.lastStartedTime?.seconds ?? 0) * 1e9 + (activity.lastStartedTime?.nanos ?? 0);
    return {
      isOfEarlierAttempt: beatAt < startedAt,
      activityId: activity.activityId ?? '',
      attempt: activity.attempt ?? 1,
      heartbeat: data?.length ? (JSON.parse(Buffer.from(data).toString('utf8')) as ExecuteHeartbeat) : undefined,
    };
  });
}
