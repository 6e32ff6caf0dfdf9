import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** So long that no test could wait for it: what comes sooner was handed over, not noticed as missing. */
const HEARTBEAT_TIMEOUT_MS = 120_000;

test('E06: a graceful stop of the worker leaves the command running, the next attempt attaches at once, and the turn goes on', async () => {
  const whole = await Whole.open();
  const go = join(whole.folder.root, 'go');
  const held = logged(whole.folder, 'held', `until [ -e '${go}' ]; do sleep 0.1; done; exit 3`);
  const turn = await whole.startTurn([commands({ held }), commands({ next: 'exit 4' }), DONE], {
    timings: { heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS },
  });
  const stopped = whole.worker('execute-worker');
  await turn.running('held');
  await whole.startExecuteWorker();
  const stoppedAtMs = performance.now();
  stopped.signal('SIGTERM');
  await stopped.ended();
  expect(stopped.child.exitCode).toBe(0);
  const { key } = await turn.call('held');
  await turn.until('the next attempt has attached to the command', () =>
    whole.proxy.of('start', key).some(({ answer }) => answer?.['outcome'] === 'attached'),
  );
  expect(performance.now() - stoppedAtMs).toBeLessThan(HEARTBEAT_TIMEOUT_MS / 4);
  const { chatId, store } = whole;
  expect(await turn.call('held')).toMatchObject({ status: 'reserved' });
  expect(await store.findChat(chatId)).toMatchObject({ activeTurn: turn.turn });
  expect((await store.findChat(chatId))?.lastError).toBeUndefined();
  writeFileSync(go, '');

  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 2 });
  expect(await turn.call('held')).toMatchObject({ status: 'exited', exitCode: 3 });
  expect(await turn.call('next')).toMatchObject({ status: 'exited', exitCode: 4 });
  expect(whole.proxy.of('cancel')).toEqual([]);
  expect(countRuns(whole.folder, 'held')).toBe(1);
});
