/** The Workers of one process live and end together: a Worker that failed leaves a process that only looks alive (A12). */
import type { Worker } from '@temporalio/worker';

/** After a failure the others get as long as their own forced shutdown takes. */
const END_MS_MAX = 6000;

export interface WorkerGroup {
  /** Runs it; also after others have begun (an agent got a new id). */
  add(worker: Worker): void;
  /** Resolves when all have ended after `stopping`; rejects with the first failure, after the others were told to end. */
  readonly ended: Promise<void>;
}

export function createWorkerGroup(stopping: AbortSignal): WorkerGroup {
  const ended = Promise.withResolvers<void>();
  const workers = new Set<Worker>();
  const runs: Promise<void>[] = [];
  let hasFailed = false;

  function shutDown() {
    for (const worker of workers) {
      if (worker.getState() === 'RUNNING') worker.shutdown();
    }
  }

  async function fail(error: unknown) {
    if (hasFailed) return;
    hasFailed = true;
    shutDown();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise((resolve) => (timer = setTimeout(resolve, END_MS_MAX)));
    await Promise.race([Promise.allSettled(runs), patience]);
    clearTimeout(timer);
    ended.reject(error);
  }

  async function run(worker: Worker) {
    try {
      await worker.run();
      if (!stopping.aborted && !hasFailed) throw new Error(`the Worker on ${worker.options.taskQueue} ended by itself`);
    } catch (error) {
      void fail(error);
      return;
    } finally {
      workers.delete(worker);
    }
    if (workers.size === 0 && !hasFailed) ended.resolve();
  }

  stopping.addEventListener('abort', shutDown, { once: true });
  return {
    add(worker) {
      workers.add(worker);
      runs.push(run(worker));
      if (stopping.aborted) shutDown();
    },
    ended: ended.promise,
  };
}
