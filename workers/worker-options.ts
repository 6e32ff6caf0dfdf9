import type { WorkerOptions } from '@temporalio/worker';
import { guardActivity } from './guard-activity.ts';

/** What every Worker of ours has, with the measurements that say why in shared/notes/temporal-live.md. */
export function commonWorkerOptions(options: { heartbeatThrottleMs: number }) {
  return {
    // A stopped process keeps its open polls, and the server goes on handing it tasks: few of them (A5).
    activityTaskPollerBehavior: { type: 'autoscaling', initial: 1, minimum: 1, maximum: 5 },
    maxHeartbeatThrottleInterval: options.heartbeatThrottleMs,
    // Activities hear of a shutdown only after this: a command's next attempt attaches that much sooner (E06).
    shutdownGraceTime: 0,
    // Unset it waits for ever, also after a fatal error (A12).
    shutdownForceTime: 5000,
    interceptors: { activity: [guardActivity] },
  } as const satisfies Partial<WorkerOptions>;
}
