/**
 * Local activities of one run, one after another. Two that run side by side within one workflow task end in two
 * activations, and in a replay in one; whose continuation is shorter is then first with its command, so the history
 * doesn't replay and the run stands still (SDK 1.24, met by the random conversations: a kill's truth and the next
 * turn's claim). They are milliseconds each.
 */
import { CancellationScope, patched, workflowInfo } from '@temporalio/workflow';
import { allHeard } from './all-heard.ts';

/** By run id, since workflows of one worker may share a module: resolves when the last one that was asked for is over. */
const tails = new Map<string, Promise<void>>();

/** The same activities; each call waits for the one before it, and for all that follows from that one at once. */
export function oneByOne<Activities extends object>(activities: Activities): Activities {
  return new Proxy(activities, {
    get: (target, name, receiver) => {
      const run = Reflect.get(target, name, receiver) as (...args: unknown[]) => Promise<unknown>;
      // Open runs that began side by side go on so, tick for tick.
      return (...args: unknown[]) =>
        patched('one-local-activity-at-a-time') ? inTurn(() => run(...args)) : run(...args);
    },
  });
}

async function inTurn<Value>(run: () => Promise<Value>): Promise<Value> {
  const { runId } = workflowInfo();
  const before = tails.get(runId);
  const over = Promise.withResolvers<void>();
  tails.set(runId, over.promise);
  if (before !== undefined) await before;
  try {
    return await run();
  } finally {
    void CancellationScope.nonCancellable(allHeard).then(() => {
      if (tails.get(runId) === over.promise) tails.delete(runId);
      over.resolve();
    });
  }
}
