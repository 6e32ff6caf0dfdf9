/** What a running command had printed, read for a person. */
import { readPendingActivities } from '../../../client/watch/pending-activities.ts';
import type { ReadOutputInput, ReadOutputResult } from '../../../contract/read-output.ts';
import { WORKFLOW_TASK_TIMEOUT_MS } from '../../../contract/limits.ts';
import { READ_OUTPUT_WORKFLOW_TYPE, TURN_TASK_QUEUE_DEFAULT } from '../../../contract/names.ts';
import { countActivities, endOf } from '../recorded-history.ts';
import { held } from '../recording/recording-system.ts';
import type { Kind } from './kind.ts';

export const read: Kind = {
  name: 'read',
  async record(system) {
    const turn = await system.startTurn('read', [[held('read', 'go-read')]]);
    const key = await turn.running('read');
    const { chatId } = turn;
    const target = (await system.store.findCall({ chatId, key }))?.target;
    if (target === undefined) throw new Error(`call ${key} runs without a target`);
    const pending = readPendingActivities(await turn.handle.describe());
    const handle = pending.find(({ activityId }) => activityId === key)?.heartbeat?.handle;
    if (handle === undefined) throw new Error(`call ${key} runs without a handle`);
    const workflowId = 'recorded-read';
    const args: [ReadOutputInput] = [{ chatId, key, target, handle }];
    const options = {
      taskQueue: TURN_TASK_QUEUE_DEFAULT,
      workflowId,
      args,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
    } as const;
    const result = (await system.client.workflow.execute(READ_OUTPUT_WORKFLOW_TYPE, options)) as ReadOutputResult;
    if (result.state !== 'read') throw new Error(`nothing was read: ${result.reason}`);
    system.openGate('go-read');
    await turn.handle.result();
    return { read: { workflowId } };
  },
  facts: ({ read: history = { events: [] } }) => ({
    'it asked the agent once': countActivities(history, 'readProcess') === 1,
    'it completed': endOf(history) === 'WORKFLOW_EXECUTION_COMPLETED',
  }),
};
