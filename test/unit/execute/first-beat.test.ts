import { expect, test } from 'vitest';
import { byVerb, exited, prepareExecute, STARTED } from './execute-call.ts';

/** Longer than any test waits: what is sent within it was not held back. */
const LONG_MS = 60_000;

test('a command that ends in the first moment costs no heartbeat', async () => {
  const { beats, run } = await prepareExecute(
    byVerb({ start: { answer: STARTED }, output: { answer: exited('hi') } }),
    {
      firstBeatMs: LONG_MS,
      info: { heartbeatTimeoutMs: 4 * LONG_MS },
    },
  );
  expect(await run()).toMatchObject({ status: 'exited' });
  expect(beats).toEqual([]);
});

test('the first heartbeat after the silence tells the process at once', async () => {
  const { beats, environment, run } = await prepareExecute(byVerb({ start: { answer: STARTED }, output: 'hang' }), {
    firstBeatMs: 100,
    // Its own timer would beat only after seconds.
    info: { heartbeatTimeoutMs: LONG_MS },
  });
  const ended = run().catch((error: unknown) => error);
  await expect.poll(() => beats.length).toBeGreaterThan(0);
  expect(beats[0]).toMatchObject({ phase: 'running', handle: 'p1' });
  environment.cancel('CANCELLED');
  await ended;
});

test('the silence is never longer than a quarter of the heartbeat time-out', async () => {
  const { beats, environment, run } = await prepareExecute(byVerb({ start: { answer: STARTED }, output: 'hang' }), {
    firstBeatMs: LONG_MS,
    info: { heartbeatTimeoutMs: 400 },
  });
  const ended = run().catch((error: unknown) => error);
  await expect.poll(() => beats.length).toBeGreaterThan(0);
  environment.cancel('CANCELLED');
  await ended;
});
