import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('F02: when the worker dies, the result of a sibling that is done is kept and the running one is attached to', async () => {
  const whole = await Whole.open();
  const step = commands({
    quick: logged(whole.folder, 'quick', 'echo quick'),
    slow: logged(whole.folder, 'slow', 'echo before; sleep 6; echo after'),
  });
  const turn = await whole.startTurn([step, DONE]);
  await turn.running('slow', 'before');
  // C2: stored while its sibling runs.
  const quick = await turn.until('the quick one is stored', async () => {
    const call = await turn.findCall('quick');
    return call?.status === 'exited' ? call : undefined;
  });
  expect((await turn.call('slow')).status).toBe('reserved');
  await whole.worker('execute-worker').kill();
  await whole.startExecuteWorker();
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 2 });

  expect(await turn.call('quick')).toEqual(quick);
  expect(await turn.execution('quick')).toMatchObject({ attempt: 1, end: 'completed' });
  const slow = await turn.call('slow');
  expect(slow).toMatchObject({ status: 'exited', exitCode: 0 });
  expect(slow.result?.text).toMatch(/^before\nafter\n/);
  expect(await turn.execution('slow')).toMatchObject({ attempt: 2, end: 'completed' });
  expect([countRuns(whole.folder, 'quick'), countRuns(whole.folder, 'slow')]).toEqual([1, 1]);
});
