/** When a worker last asked an agent's queue for work. */
import type { Client } from '@temporalio/client';
import type { AgentId } from '../../contract/ids.ts';
import { executeTaskQueue } from '../../contract/names.ts';

const ANSWER_MS_MAX = 2000;
/** The protocol's number for the activity half of a queue; its enum is in a package that only the SDK depends on. */
const ACTIVITY_QUEUE = 2;

/** Milliseconds ago; `none` when nobody polls; undefined when the server doesn't say (some keys may not ask). */
export async function findLastPoll(
  client: Client,
  agentId: AgentId,
  nowMs: number,
): Promise<number | 'none' | undefined> {
  const { connection, options } = client;
  try {
    const { pollers } = await connection.withDeadline(Date.now() + ANSWER_MS_MAX, () =>
      connection.workflowService.describeTaskQueue({
        namespace: options.namespace,
        taskQueue: { name: executeTaskQueue(agentId) },
        // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
        taskQueueType: ACTIVITY_QUEUE,
      }),
    );
    const times = (pollers ?? []).map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000);
    return times.length === 0 ? 'none' : Math.max(nowMs - Math.max(...times), 0);
  } catch {
    return undefined;
  }
}
