import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

const BUDGET_SECONDS = 9;

test('E09: an attempt that attaches late waits for what is left of the budget, and a real exit past the deadline is the result', async () => {
  const whole = await Whole.open();
  const execute = (id: string, command: string, seconds: number) => ({
    command: logged(whole.folder, id, `echo ${id}; ${command}`),
    timeout_seconds: seconds,
  });
  const step = commands({
    rest: execute('rest', 'sleep 120', BUDGET_SECONDS),
    ended: execute('ended', 'sleep 3; exit 7', 2),
    over: execute('over', 'sleep 120', 2),
  });
  const turn = await whole.startTurn([step, DONE]);
  await Promise.all([turn.running('rest'), turn.running('ended'), turn.running('over')]);
  await whole.worker('execute-worker').kill();
  // Both short deadlines are over, one of the two has ended, and nobody has looked.
  await turn.until('the command of `ended` has ended', async () => {
    const { key, nonce, target } = await turn.call('ended');
    if (target === undefined) return undefined;
    return (await whole.agent.client.probe({ target, chatId: whole.chatId, key, nonce })).state === 'exited';
  });
  expect((await turn.call('ended')).status).toBe('reserved');
  await whole.startExecuteWorker();
  expect(await turn.result()).toMatchObject({ state: 'completed' });

  expect(await turn.call('ended')).toMatchObject({ status: 'exited', exitCode: 7 });
  const over = await turn.call('over');
  expect(over).toMatchObject({ status: 'detached', evidence: { code: 'budget' } });
  expect(over.result?.text).toMatch(/^over\n\[timed out: still running after its 2 s budget: handle \S+/);
  expect(over.result?.text).toContain(String(over.handle));

  const rest = await turn.call('rest');
  expect(rest).toMatchObject({ status: 'detached', evidence: { code: 'budget' } });
  const { attempt, startedMs } = await turn.execution('rest');
  expect(attempt).toBe(2);
  const endedMs = Date.parse(rest.resolvedAt ?? '');
  expect(endedMs - Date.parse(rest.outcome?.startedAt ?? '')).toBeGreaterThanOrEqual(BUDGET_SECONDS * 1000 - 100);
  // A fresh budget would have made it wait for all of it again; what had passed was at least the heartbeat time-out.
  expect(endedMs - startedMs).toBeLessThan((BUDGET_SECONDS - 1) * 1000);
  for (const id of ['rest', 'ended', 'over']) expect([id, countRuns(whole.folder, id)]).toEqual([id, 1]);
  // C6: what was timed out lives on.
  const { target } = over;
  if (target === undefined || over.handle === undefined) throw new Error('a detached call has a target and a handle');
  const look = { target, chatId: whole.chatId, handle: over.handle };
  expect((await whole.agent.client.output(look)).state).toBe('running');
});
