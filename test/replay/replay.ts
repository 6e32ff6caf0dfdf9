/** Replays recorded histories against a bundle of workflow code, by the SDK's own replayer: no server, no activities. */
import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';
import { historyFromJson } from './history-json.ts';
import type { History } from './history-json.ts';
import { workflowIdOf } from './recorded-history.ts';
import type { RecordedHistory } from './recorded-history.ts';

// Replays that fail are what some tests are about; each is told as a warning, by either half of the SDK.
const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter } } });

type WorkflowBundle = NonNullable<Parameters<typeof Worker.runReplayHistories>[0]['workflowBundle']>;

/** Why each did not replay, by `generation/kind.part`; undefined for one that did. */
export async function replay(
  workflowBundle: WorkflowBundle,
  histories: readonly RecordedHistory[],
): Promise<Record<string, string | undefined>> {
  const asked = histories.map((history) => ({
    workflowId: workflowIdOf(history),
    history: historyFromJson({ events: history.events }),
  }));
  const ends = await replayAll(workflowBundle, asked);
  const names = histories.map(({ generation, kind, part }) => `${generation}/${kind}.${part}`);
  return Object.fromEntries(names.map((name, index) => [name, ends[index]]));
}

/** Why each did not replay, in their order; undefined for one that did. */
export async function replayAll(
  workflowBundle: WorkflowBundle,
  asked: readonly { readonly workflowId: string; readonly history: History }[],
): Promise<(string | undefined)[]> {
  const ends: (string | undefined)[] = [];
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, asked)) {
    ends.push(error === undefined ? undefined : `${error.name}: ${error.message}`);
  }
  if (ends.length !== asked.length) throw new Error(`${ends.length} of ${asked.length} histories were replayed`);
  return ends;
}
