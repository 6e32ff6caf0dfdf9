import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** `PENDING_ACTIVITY_STATE_PAUSED` of Temporal's API: nobody is at it any more. */
const PAUSED = 4;

async function openHeldTurn() {
  const whole = await Whole.open();
  const go = join(whole.folder.root, 'go');
  const command = logged(whole.folder, 'held', `until [ -e '${go}' ]; do sleep 0.1; done; exit 3`);
  const turn = await whole.startTurn([commands({ held: command }), DONE]);
  await turn.running('held');
  const operations = await TurnOperations.open({ chatId: whole.chatId, turn: turn.turn });
  const { key } = await turn.call('held');
  return { whole, turn, operations, key, release: () => writeFileSync(go, '') };
}

test('E07: pausing, unpausing and resetting its activity leaves the command alone, and the result is right', async () => {
  const { whole, turn, operations, key, release } = await openHeldTurn();
  await operations.pauseActivity(key);
  await turn.until('its attempt has let go', async () => {
    const { raw } = await operations.handle.describe();
    return raw.pendingActivities?.some(({ activityId, state }) => activityId === key && Number(state) === PAUSED);
  });
  await operations.unpauseActivity(key);
  await turn.until('the next attempt tells of the command', async () => {
    const pending = (await turn.pending()).find(({ activityId }) => activityId === key);
    return pending !== undefined && pending.attempt > 1 && pending.heartbeat?.phase === 'running';
  });
  const starts = whole.proxy.of('start', key).length;
  await operations.resetActivity(key);
  await turn.until('the attempt after the reset asks for the command', () => {
    return whole.proxy.of('start', key).length > starts;
  });
  release();
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 1 });
  expect(await turn.call('held')).toMatchObject({ status: 'exited', exitCode: 3 });
  expect(whole.proxy.of('cancel')).toEqual([]);
  expect(countRuns(whole.folder, 'held')).toBe(1);
});

test('E07: its activity failed, completed or reported as cancelled by hand leaves the command alone, and the agent is asked', async () => {
  const whole = await Whole.open();
  const go = join(whole.folder.root, 'go');
  const ids = ['failed', 'completed', 'canceled'];
  const command = (id: string) => logged(whole.folder, id, `until [ -e '${go}' ]; do sleep 0.1; done; exit 3`);
  const turn = await whole.startTurn([commands(Object.fromEntries(ids.map((id) => [id, command(id)]))), DONE]);
  await Promise.all(ids.map((id) => turn.running(id)));
  const operations = await TurnOperations.open({ chatId: whole.chatId, turn: turn.turn });
  const keyOf = async (id: string) => (await turn.call(id)).key;
  await operations.failActivity(await keyOf('failed'));
  // As a person might type it: no outcome of ours.
  await operations.completeActivity(await keyOf('completed'), 'it is fine');
  // Only an activity whose workflow asked for its cancel can be reported so; there is no other cancel from outside.
  await expect(operations.cancelActivity(await keyOf('canceled'))).rejects.toThrow();
  await turn.until('the completed one has the word of its agent', async () => {
    return (await turn.call('completed')).status === 'detached';
  });
  expect(whole.proxy.of('cancel').map(({ body }) => [body['key'], body['mode']])).toEqual([
    [await keyOf('completed'), 'fence'],
  ]);
  await turn.until('the failed one is attached to', async () => (await turn.running('failed')).attempt === 2);
  writeFileSync(go, '');
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 3 });
  expect(await Promise.all(ids.map(async (id) => (await turn.call(id)).status))).toEqual([
    'exited',
    'detached',
    'exited',
  ]);
  expect(ids.map((id) => countRuns(whole.folder, id))).toEqual([1, 1, 1]);
});

test('E07: a pause followed by an interrupt ends with the kill, within the grace', async () => {
  const { whole, turn, operations, key } = await openHeldTurn();
  await operations.pauseActivity(key);
  await turn.until('it is paused', async () => {
    const { raw } = await operations.handle.describe();
    return raw.pendingActivities?.some(({ activityId, paused }) => activityId === key && paused);
  });
  await operations.interrupt();
  expect((await turn.result()).state).toBe('interrupted');
  expect(await turn.call('held')).toMatchObject({ status: 'canceled', evidence: { code: 'killed' } });
  expect(countRuns(whole.folder, 'held')).toBe(1);
});
