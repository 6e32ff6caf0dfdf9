/** A turn that was interrupted by an update, and one by a cancel of the workflow, each with a command that ran. */
import type { InterruptAnswer, InterruptRequest } from '../../../contract/operator.ts';
import { INTERRUPT_UPDATE } from '../../../contract/names.ts';
import { attributesOf, countActivities } from '../recorded-history.ts';
import type { RecordedHistory } from '../recorded-history.ts';
import { held } from '../recording/recording-system.ts';
import type { Kind } from './kind.ts';

export const interrupted: Kind = {
  name: 'interrupted',
  async record(system) {
    const byUpdate = await system.startTurn('interrupted', [[held('a', 'never'), held('b', 'never')]]);
    await Promise.all([byUpdate.running('a'), byUpdate.running('b')]);
    const args: [InterruptRequest] = [{ who: 'Ann' }];
    await byUpdate.handle.executeUpdate<InterruptAnswer, [InterruptRequest]>(INTERRUPT_UPDATE, { args });
    const byCancel = await system.startTurn('cancelled', [[held('c', 'never')]]);
    await byCancel.running('c');
    await byCancel.handle.cancel();
    await Promise.all([byUpdate.handle.result(), byCancel.handle.result()]);
    return {
      'by-update': { workflowId: byUpdate.handle.workflowId },
      'by-cancel': { workflowId: byCancel.handle.workflowId },
    };
  },
  facts: (parts) => {
    const byUpdate = parts['by-update'] ?? { events: [] };
    const byCancel = parts['by-cancel'] ?? { events: [] };
    return {
      'its update is in history before anything is done for it': attributesOf(byUpdate, 'markerRecorded').some(
        ({ markerName }) => markerName === 'core_patch',
      ),
      'an update was accepted': attributesOf(byUpdate, 'workflowExecutionUpdateAccepted').length === 1,
      'two commands were cancelled': countActivities(byUpdate, 'cancelCall') === 2,
      'the first says that it was interrupted': saysInterrupted(byUpdate),
      'the workflow was cancelled': attributesOf(byCancel, 'workflowExecutionCancelRequested').length === 1,
      'its command was': countActivities(byCancel, 'cancelCall') === 1,
      'the second says that it was interrupted': saysInterrupted(byCancel),
    };
  },
};

function saysInterrupted(history: Pick<RecordedHistory, 'events'>): boolean {
  const [completed] = attributesOf(history, 'workflowExecutionCompleted');
  const result = completed?.['result'] as { payloads?: { data?: string }[] } | undefined;
  return Buffer.from(result?.payloads?.[0]?.data ?? '', 'base64')
    .toString()
    .includes('"state":"interrupted"');
}
