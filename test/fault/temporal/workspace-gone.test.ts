import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

const TRUST_WINDOW_MS = 4000;

test('L24: a workspace that is deleted together with its worker makes its call unknown past the trust window, and a settle goes on asking', async () => {
  const whole = await Whole.open();
  const turn = await whole.startTurn([commands({ gone: logged(whole.folder, 'gone', 'sleep 300') }), DONE], {
    timings: { trustWindowMs: TRUST_WINDOW_MS, describeAgentMs: 1000 },
  });
  await turn.running('gone');
  const goneAtMs = performance.now();
  await whole.worker('execute-worker').kill();
  await whole.agent.kill();
  rmSync(whole.folder.state, { recursive: true });
  expect((await turn.result()).state).toBe('completed');
  expect(performance.now() - goneAtMs).toBeLessThan(8 * TRUST_WINDOW_MS);
  const call = await turn.call('gone');
  expect(call).toMatchObject({ status: 'unknown', evidence: { code: 'trust_window' } });
  expect(countRuns(whole.folder, 'gone')).toBe(1);
  const operations = await TurnOperations.open({ chatId: whole.chatId, turn: turn.turn });
  const settle = operations.settleOf(call.key);
  expect((await settle.describe()).status.name).toBe('RUNNING');
  await settle.signal('retireAgent', { who: 'Ann', why: 'the machine was deleted' });
  expect(await settle.result()).toMatchObject({ status: 'unknown' });
});

test('L28: an agent that restarts exactly while it is asked where calls go is not noticed by anyone', async () => {
  const whole = await Whole.open();
  let restarts = 0;
  whole.proxy.onRequest = async ({ verb, body }) => {
    if (verb !== 'info' || body['chatId'] === undefined || restarts > 0) return;
    restarts += 1;
    await whole.agent.kill();
    await whole.startAgent();
  };
  const turn = await whole.startTurn([commands({ a: logged(whole.folder, 'a') }), DONE]);
  expect(await turn.result()).toMatchObject({ state: 'completed' });
  expect(restarts).toBe(1);
  expect(await turn.call('a')).toMatchObject({ status: 'exited', exitCode: 0 });
  expect(countRuns(whole.folder, 'a')).toBe(1);
});
