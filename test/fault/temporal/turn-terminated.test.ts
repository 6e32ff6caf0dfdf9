import { describe, expect, test } from 'vitest';
import { sweepScheduleId } from '../../../contract/names.ts';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('a sweep closes a turn that was terminated: what runs is left alone and named, and the chat goes on', async () => {
  const whole = await Whole.open();
  const turn = await whole.startTurn([
    commands({ done: logged(whole.folder, 'done'), runs: logged(whole.folder, 'runs', 'sleep 300') }),
    DONE,
  ]);
  await turn.running('runs');
  await turn.until('the other has its result', async () => (await turn.call('done')).status === 'exited');
  await turn.handle.terminate('by a person');

  const operations = await TurnOperations.open({ chatId: whole.chatId, turn: turn.turn });
  expect(await operations.sweep(whole.turnQueue, 5000)).toMatchObject({ turnsClosed: 1, settlesStarted: 0 });
  expect(await turn.call('done')).toMatchObject({ status: 'exited' });
  const runs = await turn.call('runs');
  expect(runs).toMatchObject({ status: 'detached', evidence: { code: 'attempt_ended' } });
  expect(runs.result?.text).toContain(runs.handle);
  expect(await whole.store.findTurn({ chatId: whole.chatId, turn: turn.turn })).toMatchObject({
    state: 'failed',
    error: { code: 'turn_lost' },
  });
  expect((await (await whole.startTurn([DONE])).result()).state).toBe('completed');
  // Nothing is left to be found.
  expect(await operations.sweep(whole.turnQueue, 5000)).toMatchObject({ turnsClosed: 0, settlesStarted: 0 });
  expect(countRuns(whole.folder, 'runs')).toBe(1);
});

describe('L03: a turn is terminated while the start of its call is held on the way; the fence comes first, and the late start runs nothing', () => {
  test('I03: a turn is terminated while the start of its call is held on the way; the fence comes first, and the late start runs nothing', async () => {
    const whole = await Whole.open();
    const held = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    whole.proxy.onRequest = async ({ verb }) => {
      if (verb !== 'start') return;
      arrived.resolve();
      await held.promise;
    };
    const turn = await whole.startTurn([commands({ never: logged(whole.folder, 'never') }), DONE]);
    await arrived.promise;
    await turn.handle.terminate('by a person');
    const operations = await TurnOperations.open({ chatId: whole.chatId, turn: turn.turn });
    await operations.sweep(whole.turnQueue, 5000);
    const call = await turn.call('never');
    expect(call).toMatchObject({ status: 'no_effect', evidence: { code: 'fenced' } });
    held.resolve();
    await turn.until('the late start was answered', () =>
      whole.proxy.of('start', call.key).every(({ answer }) => answer),
    );
    for (const { answer } of whole.proxy.of('start', call.key)) {
      expect(answer).toMatchObject({ error: { code: 'canceled' } });
    }
    expect(countRuns(whole.folder, 'never')).toBe(0);
  });
});

test('the turn worker makes the schedule that starts a sweep, once for all workers of its queue', async () => {
  const whole = await Whole.open();
  await whole.startTurnWorker();
  const turn = await whole.startTurn([DONE]);
  await turn.result();
  const operations = await TurnOperations.open({ chatId: whole.chatId, turn: turn.turn });
  expect(await operations.scheduledWorkflowType(sweepScheduleId(whole.turnQueue))).toBe('sweep');
});
