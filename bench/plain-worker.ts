/**
 * Program, the yardstick: the worker that one would write without Latchkey. Workflows and activities in one process,
 * the SDK's own settings, and an activity that spawns its command.
 */
import { NativeConnection, Worker } from '@temporalio/worker';
import { execa } from 'execa';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlainActivities } from './workflows/chain.ts';

const activities: PlainActivities = {
  doNothing: async () => undefined,
  spawnTrue: async () => void (await execa('bash', ['-c', 'true'])),
};

/** As many as a side-by-side measurement asks for at once, so that neither side waits for a slot. */
const ACTIVITY_SLOTS = 200;

const connection = await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? '' });
const bundle = process.env['BENCH_WORKFLOW_BUNDLE'];
const worker = await Worker.create({
  connection,
  namespace: process.env['TEMPORAL_NAMESPACE'] ?? 'default',
  taskQueue: process.env['BENCH_TASK_QUEUE'] ?? '',
  activities,
  maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
  ...(bundle === undefined
    ? { workflowsPath: fileURLToPath(new URL(`./workflows/index${extname(import.meta.filename)}`, import.meta.url)) }
    : { workflowBundle: { codePath: bundle } }),
});
process.stdout.write('ready\n');
await worker.run();
await connection.close();
