/** The Schedule that starts a sweep every minute: one for all turn workers of a queue, made by whichever comes first. */
import { Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { WORKFLOW_TASK_TIMEOUT_MS } from '../contract/limits.ts';
import { sweepScheduleId, SWEEP_WORKFLOW_TYPE } from '../contract/names.ts';

/** While no turn worker polls, the one sweep that waits must not hold up the next for ever. */
const RUN_TIMEOUT = '10 minutes';

interface SweepSchedule {
  readonly namespace: string;
  readonly turnQueue: string;
  readonly everySeconds: number;
  readonly report: (line: string) => void;
}

/** Some API keys may not make schedules; the worker works without, and says what is missing then. */
export async function ensureSweepSchedule(connection: NativeConnection, options: SweepSchedule): Promise<void> {
  const { namespace, turnQueue, everySeconds, report } = options;
  const { schedule } = new Client({ connection, namespace });
  const scheduleId = sweepScheduleId(turnQueue);
  const spec = { intervals: [{ every: everySeconds * 1000 }] };
  try {
    await schedule.create({
      scheduleId,
      spec,
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
      action: {
        type: 'startWorkflow',
        workflowType: SWEEP_WORKFLOW_TYPE,
        workflowId: scheduleId,
        taskQueue: turnQueue,
        args: [{}],
        workflowRunTimeout: RUN_TIMEOUT,
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      },
    });
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return;
    const cause = error instanceof Error ? error.message : String(error);
    report(`the schedule ${scheduleId} can't be made (${cause}): turns that are terminated or lost stay open`);
  }
}
