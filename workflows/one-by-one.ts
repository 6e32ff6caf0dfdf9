/**
 * Local activities of one run, one after another. Two that run side by side within one workflow task end in two
 * activations, and in a replay in one; whose continuation is shorter is then first with its command, so the history
 * doesn't replay and the run stands still (SDK 1.24, met by the random conversations: a kill's truth and the next
 * turn's claim). They are milliseconds each.
 */
import { CancellationScope, patched } from '@temporalio/workflow';
import { allHeard } from './all-heard.ts';

/** Resolves when the call that was asked for last is over. Each run has modules, and so this, of its own: the SDK's sandbox. */
let last: Promise<void> | undefined;

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
  const before = last;
  const over = Promise.withResolvers<void>();
  last = over.promise;
  if (before !== undefined) await before;
  try {
    return await run();
  } finally {
    void CancellationScope.nonCancellable(allHeard).then(() => {
      if (last === over.promise) last = undefined;
      over.resolve();
    });
  }
}
