/** The sweep that closed a turn which had been terminated, with a command that still ran. */
import { WORKFLOW_TASK_TIMEOUT_MS } from '../../../contract/limits.ts';
import { SWEEP_WORKFLOW_TYPE, TURN_TASK_QUEUE_DEFAULT } from '../../../contract/names.ts';
import type { SweepResult } from '../../../contract/sweep.ts';
import { countActivities, endOf } from '../recorded-history.ts';
import { held } from '../recording/recording-system.ts';
import type { Kind } from './kind.ts';

export const swept: Kind = {
  name: 'swept',
  async record(system) {
    const turn = await system.startTurn('swept', [[held('left', 'never')]]);
    await turn.running('left');
    await turn.handle.terminate('to be swept');
    // The scheduled sweep may be first: then ours finds nothing, and another turn is needed, which a minute forbids.
    const workflowId = 'recorded-sweep';
    const options = {
      taskQueue: TURN_TASK_QUEUE_DEFAULT,
      workflowId,
      args: [{}],
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
    };
    const result = (await system.client.workflow.execute(SWEEP_WORKFLOW_TYPE, options)) as SweepResult;
    if (result.turnsClosed !== 1) throw new Error('the scheduled sweep came first: record again');
    return { sweep: { workflowId } };
  },
  facts: ({ sweep = { events: [] } }) => ({
    'it looked for strays': countActivities(sweep, 'findStrays') === 1,
    'it closed the turn': countActivities(sweep, 'closeStrayTurn') === 1,
    'it asked the agent about the open call': countActivities(sweep, 'cancelCall') === 1,
    'it completed': endOf(sweep) === 'WORKFLOW_EXECUTION_COMPLETED',
  }),
};
