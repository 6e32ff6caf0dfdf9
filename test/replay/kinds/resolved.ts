/** A turn whose call was ended by a person's word, since its agent said nothing. */
import { RESOLVE_CALL_UPDATE } from '../../../contract/names.ts';
import type { ResolveCallAnswer, ResolveCallRequest } from '../../../contract/operator.ts';
import { attributesOf, endOf } from '../recorded-history.ts';
import { held } from '../recording/recording-system.ts';
import type { Kind } from './kind.ts';

export const resolved: Kind = {
  name: 'resolved',
  async record(system) {
    const turn = await system.startTurn('resolved', [[held('lost', 'never')]]);
    const key = await turn.running('lost');
    await system.agent.kill('SIGKILL');
    const args: [ResolveCallRequest] = [{ key, as: 'exit', exitCode: 0, who: 'Ann', why: 'I saw it end' }];
    await turn.handle.executeUpdate<ResolveCallAnswer, [ResolveCallRequest]>(RESOLVE_CALL_UPDATE, { args });
    // The rest of the turn needs no agent; the settle that was started with the word ends when there is one again.
    await turn.handle.result();
    system.agent = await system.stage.startAgent();
    return { turn: { workflowId: turn.handle.workflowId } };
  },
  facts: ({ turn = { events: [] } }) => ({
    'the update was answered': attributesOf(turn, 'workflowExecutionUpdateCompleted').length === 1,
    'a settle goes on asking': attributesOf(turn, 'childWorkflowExecutionStarted').length === 1,
    'it completed': endOf(turn) === 'WORKFLOW_EXECUTION_COMPLETED',
  }),
};
