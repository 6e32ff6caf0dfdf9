/** The turn worker: `node workers/turn-worker.ts --store sqlite:/path`. Workflows and the turn's activities; owns nothing. */
import { readFileSync } from 'node:fs';
import { Worker } from '@temporalio/worker';
import { resolveModel } from '../activities/model/resolve-model.ts';
import { createTurnActivities } from '../activities/turn-activities.ts';
import { VERSIONED_WORKER_FLAG } from '../contract/deployment.ts';
import { CHAT_WORKFLOW_TYPE } from '../contract/names.ts';
import { openStore } from '../store/open-store.ts';
import { connectWorker, loadConnection } from '../tools/temporal/connection.ts';
import { readTurnWorkerConfiguration } from './configuration.ts';
import type { TurnWorkerConfiguration } from './configuration.ts';
import { ensureSweepSchedule } from './ensure-sweep-schedule.ts';
import { runProgram } from './run-program.ts';
import { createWorkerGroup } from './worker-group.ts';
import { commonWorkerOptions } from './worker-options.ts';
import { loadWorkflowBundle } from './workflow-bundle.ts';

/** What a turn waits for after its worker's death, between two tasks; the default is 10 s (A9). */
const STICKY_TIMEOUT_MS = 1000;
/**
 * A model call that ends so soon after SIGTERM ends here: each one that a deploy cuts off costs an attempt of its
 * budget, and watchers see its text withdrawn. Whoever stops us must wait longer than the second.
 */
const SHUTDOWN_GRACE_MS = 5000;
const SHUTDOWN_FORCE_MS = 7000;

async function turnWorker(stopping: AbortSignal): Promise<void> {
  const configuration = readTurnWorkerConfiguration({ env: process.env, args: process.argv.slice(2) });
  const { temporalAddress, temporalNamespace, turnQueue, storeUrl, sweepSeconds, version } = configuration;
  const { contextWindow, compactAtShare } = configuration;
  const request = {
    ...(temporalAddress !== undefined && { address: temporalAddress }),
    ...(temporalNamespace !== undefined && { namespace: temporalNamespace }),
  };
  const store = await openStore(storeUrl);
  const connection = await connectWorker(request);
  const { namespace } = loadConnection(request);
  const worker = await Worker.create({
    ...commonWorkerOptions(configuration),
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    shutdownForceTime: SHUTDOWN_FORCE_MS,
    connection,
    namespace,
    taskQueue: turnQueue,
    identity: `turn@${process.pid}`,
    activities: createTurnActivities({
      store,
      models: (name) => resolveModel(name, { env: process.env }),
      ...(contextWindow !== undefined && { contextWindow: { tokens: contextWindow, compactAtShare } }),
      ...('webhook' in configuration && { webhook: configuration.webhook }),
    }),
    stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT_MS,
    // A chat is its rows: one that doesn't replay closes, and whoever asks next, or the sweep, starts it anew from them. A
    // turn waits in such a case, since a worker with the right code may come.
    workflowFailureErrorTypes: { '*': [], [CHAT_WORKFLOW_TYPE]: ['NondeterminismError'] },
    ...(await workflowsOf(configuration)),
  });
  stopping.throwIfAborted();
  const report = (line: string) => void process.stderr.write(`turn worker: ${line}\n`);
  await ensureSweepSchedule(connection, { namespace, turnQueue, everySeconds: sweepSeconds, report });
  const group = createWorkerGroup(stopping);
  group.add(worker);
  const build = version === undefined ? '' : `, build ${version.buildId} of ${version.deploymentName}`;
  process.stdout.write(`ready: turn queue ${turnQueue}${build}\n`);
  await group.ended;
  await connection.close();
  await store.close();
}

/** A versioned worker tells its workflows so: an unversioned one's may not say how they are versioned. */
async function workflowsOf({ version, workflowBundle }: TurnWorkerConfiguration) {
  const code = workflowBundle === undefined ? await loadWorkflowBundle() : readFileSync(workflowBundle, 'utf8');
  if (version === undefined) return { workflowBundle: { code } };
  return {
    workflowBundle: { code: `globalThis.${VERSIONED_WORKER_FLAG}=true;${code}` },
    // The behaviour of a workflow that says none, such as those of a build before there were any.
    workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' } as const,
  };
}

if (import.meta.main) await runProgram('turn worker', turnWorker);
