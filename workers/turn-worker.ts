/** The turn worker: `node workers/turn-worker.ts --store sqlite:/path`. Workflows and the turn's activities; owns nothing. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { resolveModel } from '../activities/model/resolve-model.ts';
import { createTurnActivities } from '../activities/turn-activities.ts';
import { openStore } from '../store/open-store.ts';
import { connectWorker, loadConnection } from '../tools/temporal/connection.ts';
import { readTurnWorkerConfiguration } from './configuration.ts';
import { ensureSweepSchedule } from './ensure-sweep-schedule.ts';
import { runProgram } from './run-program.ts';
import { createWorkerGroup } from './worker-group.ts';
import { commonWorkerOptions } from './worker-options.ts';

/** What a turn waits for after its worker's death, between two tasks; the default is 10 s (A9). */
const STICKY_TIMEOUT_MS = 1000;

async function turnWorker(stopping: AbortSignal): Promise<void> {
  const configuration = readTurnWorkerConfiguration({ env: process.env, args: process.argv.slice(2) });
  const { temporalAddress, temporalNamespace, turnQueue, storeUrl, workflowBundle, sweepSeconds } = configuration;
  const request = {
    ...(temporalAddress !== undefined && { address: temporalAddress }),
    ...(temporalNamespace !== undefined && { namespace: temporalNamespace }),
  };
  const store = await openStore(storeUrl);
  const connection = await connectWorker(request);
  const { namespace } = loadConnection(request);
  const worker = await Worker.create({
    ...commonWorkerOptions(configuration),
    connection,
    namespace,
    taskQueue: turnQueue,
    identity: `turn@${process.pid}`,
    activities: createTurnActivities({
      store,
      models: (name) => resolveModel(name, { env: process.env }),
      ...('webhook' in configuration && { webhook: configuration.webhook }),
    }),
    stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT_MS,
    ...(workflowBundle === undefined
      ? { workflowsPath: workflowsPath() }
      : { workflowBundle: { codePath: workflowBundle } }),
  });
  stopping.throwIfAborted();
  const report = (line: string) => void process.stderr.write(`turn worker: ${line}\n`);
  await ensureSweepSchedule(connection, { namespace, turnQueue, everySeconds: sweepSeconds, report });
  const group = createWorkerGroup(stopping);
  group.add(worker);
  process.stdout.write(`ready: turn queue ${turnQueue}\n`);
  await group.ended;
  await connection.close();
  await store.close();
}

/** Beside this file: `.ts` in a checkout, `.js` in what is shipped. */
function workflowsPath(): string {
  return fileURLToPath(new URL(`../workflows/index${extname(import.meta.filename)}`, import.meta.url));
}

if (import.meta.main) await runProgram('turn worker', turnWorker);
