import type { RecordingSystem } from '../recording/recording-system.ts';
import type { RunReference } from './kind.ts';

/** All runs of a workflow that has continued as new: `run-1`, `run-2`, … */
export async function chainOf({ client }: RecordingSystem, workflowId: string): Promise<Record<string, RunReference>> {
  const newest = await client.workflow.getHandle(workflowId).fetchHistory();
  const runs: Record<string, RunReference> = {};
  let runId = newest.events?.[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId ?? '';
  for (let number = 1; runId !== ''; number += 1) {
    runs[`run-${number}`] = { workflowId, runId };
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? '';
  }
  return runs;
}
