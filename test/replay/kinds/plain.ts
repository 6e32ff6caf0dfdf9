/** A turn in which nothing goes wrong: calls side by side, in the background, that only read, that send a signal. */
import { attributesOf, countActivities, endOf } from '../recorded-history.ts';
import { execute } from '../recording/recording-system.ts';
import type { Kind } from './kind.ts';

export const plain: Kind = {
  name: 'plain',
  async record(system) {
    const { handle } = await system.startTurn('plain', [
      [execute('look', 'echo hello'), execute('fail', 'exit 4'), execute('serve', 'sleep 300', { background: true })],
      [
        { id: 'list', name: 'process_list', arguments: {} },
        { id: 'stop', name: 'process_signal', arguments: { handle: 'p3', signal: 'TERM' } },
      ],
    ]);
    await handle.result();
    return { turn: { workflowId: handle.workflowId } };
  },
  facts: ({ turn = { events: [] } }) => ({
    'three commands ran': countActivities(turn, 'execute') === 3,
    'a read was asked': countActivities(turn, 'readProcess') === 1,
    'a signal was sent': countActivities(turn, 'signalProcess') === 1,
    'the model was asked three times': countActivities(turn, 'generateStep') === 3,
    'results were stored by local activities': attributesOf(turn, 'markerRecorded').length >= 5,
    'every attempt was the first': attributesOf(turn, 'activityTaskStarted').every(({ attempt }) => attempt === 1),
    'it completed': endOf(turn) === 'WORKFLOW_EXECUTION_COMPLETED',
  }),
};
