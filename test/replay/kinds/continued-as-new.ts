/** A turn that moved to new runs between its steps. */
import { attributesOf, endOf } from '../recorded-history.ts';
import { execute } from '../recording/recording-system.ts';
import type { RecordingSystem } from '../recording/recording-system.ts';
import type { Kind, RunReference } from './kind.ts';

/** Less than a step has, so that it moves after each. */
const HISTORY_EVENTS_MAX = 10;

export const continuedAsNew: Kind = {
  name: 'continued-as-new',
  async record(system) {
    const script = [[execute('a', 'echo a')], [execute('b', 'echo b')]];
    const { handle } = await system.startTurn('continued', script, { historyEventsMax: HISTORY_EVENTS_MAX });
    await handle.result();
    const runs: Record<string, RunReference> = {};
    const { workflowId } = handle;
    let runId: string | undefined = await firstRunOf(system, handle.workflowId);
    for (let number = 1; runId !== undefined && runId !== ''; number += 1) {
      runs[`run-${number}`] = { workflowId, runId };
      const { events } = await system.client.workflow.getHandle(workflowId, runId).fetchHistory();
      const last = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes;
      runId = last?.newExecutionRunId ?? undefined;
    }
    return runs;
  },
  facts: (parts) => {
    const runs = ['run-1', 'run-2', 'run-3'].map((part) => parts[part] ?? { events: [] });
    const [first, ...later] = runs;
    return {
      'there are three runs': Object.keys(parts).length === 3,
      'all but the last moved': runs.slice(0, -1).every((run) => endOf(run) === 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW'),
      'the last completed': endOf(runs.at(-1) ?? { events: [] }) === 'WORKFLOW_EXECUTION_COMPLETED',
      'only the first is no continuation': !isContinuation(first) && later.every(isContinuation),
    };
  },
};

async function firstRunOf({ client }: RecordingSystem, workflowId: string): Promise<string | undefined> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return events?.[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId ?? undefined;
}

function isContinuation(run: Parameters<typeof endOf>[0] | undefined): boolean {
  const [started] = attributesOf(run ?? { events: [] }, 'workflowExecutionStarted');
  return Boolean(started?.['continuedExecutionRunId']);
}
