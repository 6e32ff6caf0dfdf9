/** The danger: anybody dies anywhere. The short form of `npm run crash-matrix`. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { Sweep } from '../../crash-matrix/sweep.ts';
import { AgentProcess, countRuns, keyed, logged, makeAgentFolder, startRequest } from '../../fixtures/agent-process.ts';

/** Half a minute of it is the agent's own patience with an output whose reader died. */
const TIMEOUT_MS = 300_000;

describe('D03: daemon, keeper, child, reader and machine die at every point, and no key runs twice or lies', () => {
  describe('D04: daemon, keeper, child, reader and machine die at every point, and no key runs twice or lies', () => {
    test(
      'D01, K1, K2, K4, K6: daemon, keeper, child, reader and machine die at every point, and no key runs twice or lies',
      async () => {
        const seed = Math.floor(Math.random() * 1_000_000);
        const sweep = new Sweep({ size: 'short', seed });
        onTestFinished(() => sweep.dispose());
        await sweep.run();
        expect(sweep.tally.violations, `npm run crash-matrix -- --short --seed ${seed}`).toEqual([]);
        expect(sweep.tally.missedPoints).toEqual([]);
      },
      TIMEOUT_MS,
    );
  });
});

test('D04, C1: a key that was lost with its machine before its folder was made has an empty output, not one to wait for', async () => {
  const folder = makeAgentFolder();
  const doomed = await AgentProcess.start(folder, { env: { LATCHKEY_CRASH_AT: 'after-reserve' } });
  const target = await doomed.target();
  await doomed.client.start(startRequest(target, '1-call', logged(folder, '1-call'))).catch(() => undefined);
  await doomed.ended();
  const agent = await AgentProcess.start(folder, { env: { LATCHKEY_SIMULATED_BOOT_ID: 'another-boot' } });
  const view = { headBytes: 10, tailBytes: 10 };
  const answer = await agent.client.output({ ...keyed(target, '1-call'), view });
  expect(answer).toMatchObject({
    state: 'lost',
    total: 0,
    outputOpen: false,
    view: { head: '', tail: '', omitted: 0 },
  });
  expect(countRuns(folder, '1-call')).toBe(0);
});
