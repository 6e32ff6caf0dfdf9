import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startTurn } from '../../client/start-turn.ts';
import type { TurnHandle } from '../../client/start-turn.ts';
import { controlTaskQueue, SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { findTestServer } from '../../tools/temporal/find-test-server.ts';
import { TurnWorld } from '../fakes/turn-world.ts';

const FETCH_TIMEOUT_MS = 6 * 60_000;
/** Between 25 attempts: 1, 2, 4, 8, 16 and 32 s, then 18 times a minute. */
const BACK_OFF_MS = (63 + 18 * 60) * 1000;
/** The server rounds its timers up. */
const CLOCK_MARGIN_MS = 30_000;
/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const KEYWORD = 2;

// Failed attempts are what this test is about; their warnings would bury a real failure.
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
});

test(
  'a model that stays unavailable is asked 25 times over 19 minutes, then the turn ends failed and says why',
  { timeout: FETCH_TIMEOUT_MS },
  async ({ skip }) => {
    const found = await findTestServer();
    if ('skipReason' in found) {
      console.warn(`the retries of a model call were NOT looked at: ${found.skipReason}`);
      return skip(found.skipReason);
    }
    // A server of its own: its time is one for all, and a stuck workflow stops the skipping for everybody.
    const environment = await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path: found.path } },
    });
    onTestFinished(() => environment.teardown());
    const world = new TurnWorld([]);
    world.overrides.generateStep = () => {
      throw ApplicationFailure.create({ type: 'model_unavailable', message: 'the provider says 529: overloaded' });
    };
    const beforeMs = performance.now();
    const handle = await startOn(environment, world);
    const result = await handle.result();
    expect(result).toMatchObject({ state: 'failed', steps: 0, error: { code: 'model_unavailable' } });
    expect(result.error?.message).toContain('529');
    expect(world.entries('generateStep')).toHaveLength(25);
    expect(world.entries('closeStep')).toHaveLength(1);
    expect(world.ended).toBe('failed: model_unavailable');
    const { startTime, closeTime } = await handle.describe();
    const passedMs = (closeTime?.getTime() ?? 0) - startTime.getTime();
    expect(passedMs).toBeGreaterThanOrEqual(BACK_OFF_MS);
    // The server's time goes on in real time while an activity runs.
    expect(passedMs - BACK_OFF_MS).toBeLessThan(performance.now() - beforeMs + CLOCK_MARGIN_MS);
  },
);

/** Starts a turn of the world, with workers for the two queues that it needs. */
async function startOn(environment: TestWorkflowEnvironment, world: TurnWorld): Promise<TurnHandle> {
  const { nativeConnection: connection, namespace = 'default' } = environment;
  await environment.connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(Object.values(SEARCH_ATTRIBUTES).map((name) => [name, KEYWORD])),
  });
  const taskQueue = `turns-${randomUUID()}`;
  const activities = world.activities();
  const workers = [
    await Worker.create({
      connection,
      namespace,
      taskQueue,
      activities,
      workflowBundle: { codePath: inject('workflowBundlePath') },
    }),
    await Worker.create({ connection, namespace, taskQueue: controlTaskQueue(world.agentId), activities }),
  ];
  const runs = workers.map((worker) => worker.run());
  onTestFinished(async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(runs);
  });
  const input = { chatId: world.chatId, turn: 1, agentId: world.agentId, model: 'scripted' };
  return startTurn(environment.client, { taskQueue, userText: 'hello', input });
}
