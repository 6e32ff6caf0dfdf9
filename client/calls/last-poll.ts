/** When a worker last asked one of an agent's queues for work. */
import type { Client } from '@temporalio/client';
import type { AgentId } from '../../contract/ids.ts';
import { controlTaskQueue, executeTaskQueue } from '../../contract/names.ts';

const ANSWER_MS_MAX = 2000;
/** The protocol's number for the activity half of a queue; its enum is in a package that only the SDK depends on. */
const ACTIVITY_QUEUE = 2;

/**
 * Milliseconds ago; `none` when nobody polls; undefined when the server doesn't say (some keys may not ask). A worker
 * whose slots are all taken asks its execute queue for nothing, so the control queue tells too that it lives.
 */
export async function findLastPoll(
  client: Client,
  agentId: AgentId,
  nowMs: number,
): Promise<number | 'none' | undefined> {
  try {
    const queues = [executeTaskQueue(agentId), controlTaskQueue(agentId)];
    const times = (await Promise.all(queues.map((queue) => pollTimesMs(client, queue)))).flat();
    return times.length === 0 ? 'none' : Math.max(nowMs - Math.max(...times), 0);
  } catch {
    return undefined;
  }
}

async function pollTimesMs({ connection, options }: Client, name: string): Promise<number[]> {
  const { pollers } = await connection.withDeadline(Date.now() + ANSWER_MS_MAX, () =>
    connection.workflowService.describeTaskQueue({
      namespace: options.namespace,
      taskQueue: { name },
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
      taskQueueType: ACTIVITY_QUEUE,
    }),
  );
  return (pollers ?? []).map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000);
}
