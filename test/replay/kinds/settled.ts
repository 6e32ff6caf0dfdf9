/** A turn that was interrupted while its agent was away, and the settle that brought the truth when it was back. */
import { INTERRUPT_UPDATE, settleWorkflowId } from '../../../contract/names.ts';
import type { InterruptAnswer, InterruptRequest } from '../../../contract/operator.ts';
import { attributesOf, countActivities, endOf } from '../recorded-history.ts';
import { held } from '../recording/recording-system.ts';
import type { Kind } from './kind.ts';

export const settled: Kind = {
  name: 'settled',
  async record(system) {
    const turn = await system.startTurn('settled', [[held('away', 'never')]]);
    const key = await turn.running('away');
    await system.agent.kill('SIGKILL');
    await turn.handle.executeUpdate<InterruptAnswer, [InterruptRequest]>(INTERRUPT_UPDATE, { args: [{ who: 'Ann' }] });
    await turn.handle.result();
    system.agent = await system.stage.startAgent();
    const workflowId = settleWorkflowId(turn.chatId, key);
    await system.client.workflow.getHandle(workflowId).result();
    return { turn: { workflowId: turn.handle.workflowId }, settle: { workflowId } };
  },
  facts: ({ turn = { events: [] }, settle = { events: [] } }) => ({
    'the turn started a settle': attributesOf(turn, 'childWorkflowExecutionStarted').length === 1,
    'and ended before it': endOf(turn) === 'WORKFLOW_EXECUTION_COMPLETED',
    'the settle asked': countActivities(settle, 'cancelCall') >= 1,
    'it stored what it found':
      attributesOf(settle, 'markerRecorded').filter(({ markerName }) => markerName === 'core_local_activity').length ===
      1,
    'it completed': endOf(settle) === 'WORKFLOW_EXECUTION_COMPLETED',
  }),
};
