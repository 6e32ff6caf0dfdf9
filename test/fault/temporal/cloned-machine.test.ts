import { expect, test } from 'vitest';
import { logged } from '../../fixtures/agent-process.ts';
import { bootAgent } from '../../fixtures/reboot.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';
import { WorkerProcess } from '../../fixtures/worker-process.ts';

test('L17: beside the worker of one machine that of its block clone refuses to poll, and says what to do', async () => {
  const whole = await Whole.open();
  const { agentId, incarnation } = await whole.agent.target();
  // The same agent id in another boot; the worker of the first goes on polling, as on the machine that was cloned.
  await whole.agent.kill();
  await bootAgent(whole);
  const clone = await whole.agent.target();
  expect([clone.agentId, clone.incarnation === incarnation]).toEqual([agentId, false]);
  const second = WorkerProcess.spawn('execute-worker', { env: { LATCHKEY_AGENT_ADDRESS: whole.proxy.address } });
  await waitUntil('it has seen the other', () => second.errors.includes('waiting up to') || second.hasEnded, {
    deadlineMs: 45_000,
    describe: () => second.log,
  });
  // Each task that the first worker takes lets it poll anew, so that it shows that it is still there.
  const turn = await whole.startTurn([commands({ a: logged(whole.folder, 'a') }), DONE]);
  expect(await turn.result()).toMatchObject({ state: 'completed' });
  await second.ended(30_000);
  expect(second.child.exitCode).toBe(1);
  expect(second.isReady).toBe(false);
  expect(second.errors).toMatch(/two machines share one agent: .*latchkey agent adopt.* on the copy/);
});
