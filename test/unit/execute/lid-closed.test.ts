import { expect, test } from 'vitest';
import { watchSleep } from '../../../activities/execute/sleep-watch.ts';
import { byVerb, executeInput, exited, prepareExecute, STARTED } from './execute-call.ts';
import { createManualClock } from './manual-clock.ts';

const HOURS_MS = 8 * 3_600_000;
const TRUST_WINDOW_MS = 30 * 60_000;
const AWAY_MS = 2000;

/** An attempt whose agent is away for `AWAY_MS`, then the lid is closed for hours; the agent is there when it is opened. */
async function closeLid() {
  const clock = createManualClock();
  const beganAtMs = clock.bootMs();
  let isOpenedAgain = false;
  const { agent, beats, run } = await prepareExecute(
    byVerb({
      start: () => {
        if (isOpenedAgain) return { answer: STARTED };
        if (clock.bootMs() - beganAtMs < AWAY_MS) return 'cut';
        clock.advance(HOURS_MS);
        isOpenedAgain = true;
        return 'cut';
      },
      output: { answer: exited('fine') },
    }),
    { clock },
  );
  const input = executeInput({}, { trustWindowMs: TRUST_WINDOW_MS });
  await expect(run(input)).rejects.toMatchObject({ type: 'start_pending', nonRetryable: false });
  return { agent, beats, clock, input };
}

test('L23: an agent that was away for 2 s only is not doubted after a lid was closed past the trust window', async () => {
  const { beats, clock, input } = await closeLid();
  const told = beats.at(-1);
  expect(told?.unreachableMs).toBeLessThan(2 * AWAY_MS);
  const next = await prepareExecute(
    byVerb({
      // Waking up it is away once more.
      start: (_, count) => (count === 1 ? 'cut' : { answer: STARTED }),
      output: { answer: exited('fine') },
    }),
    { clock, info: { attempt: 2, heartbeatDetails: told } },
  );
  expect(await next.run(input)).toMatchObject({ status: 'exited', exit: { code: 0 } });
});

test('the attempt of before the lid was closed sends no more starts (part of L22)', async () => {
  const { agent } = await closeLid();
  const starts = agent.requests.filter(({ verb }) => verb === 'start').length;
  await new Promise((resolve) => setImmediate(resolve));
  expect(agent.requests.filter(({ verb }) => verb === 'start')).toHaveLength(starts);
});

test('an attempt that a sleeping worker was handed starts nothing once it wakes; the one after a moment does (part of L22)', async () => {
  const clock = createManualClock();
  const sleepWatch = watchSleep(clock.bootMs);
  const { agent, run } = await prepareExecute(
    byVerb({ start: { answer: STARTED }, output: { answer: exited('fine') } }),
    { sleepWatch },
  );
  clock.advance(HOURS_MS);
  await expect(run()).rejects.toMatchObject({ type: 'start_pending', nonRetryable: false });
  expect(agent.requests).toEqual([]);
  clock.advance(1000);
  expect(await run()).toMatchObject({ status: 'exited' });
  // A pause that no one has given an attempt up for is no reason to wait.
  clock.advance(3000);
  expect(await run()).toMatchObject({ status: 'exited' });
});
