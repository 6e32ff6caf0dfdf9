/** A turn whose execute worker was killed in the middle of a command; the next attempt attached. */
import { attributesOf, endOf } from '../recorded-history.ts';
import { held } from '../recording/recording-system.ts';
import type { Kind } from './kind.ts';

export const crashRetried: Kind = {
  name: 'crash-retried',
  async record(system) {
    const turn = await system.startTurn('crash-retried', [[held('long', 'go-crash')]]);
    await turn.running('long');
    await system.worker.kill('SIGKILL');
    system.worker = await system.stage.startExecuteWorker(system.temporal);
    await turn.running('long', 2);
    system.openGate('go-crash');
    await turn.handle.result();
    return { turn: { workflowId: turn.handle.workflowId } };
  },
  facts: ({ turn = { events: [] } }) => ({
    'an attempt was at least the second, after a heartbeat time-out': attributesOf(turn, 'activityTaskStarted').some(
      ({ attempt, lastFailure }) => Number(attempt) >= 2 && JSON.stringify(lastFailure ?? '').includes('HEARTBEAT'),
    ),
    'it completed': endOf(turn) === 'WORKFLOW_EXECUTION_COMPLETED',
  }),
};
