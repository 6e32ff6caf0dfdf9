import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CALLS_SIDE_BY_SIDE_MAX, TARGET_FRESH_MS } from '../../../contract/limits.ts';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';
import type { WholeTurn } from '../../fixtures/whole-turn.ts';

/** A machine that was rebooted, for the agent. */
const reboot = () => ({ LATCHKEY_SIMULATED_BOOT_ID: randomUUID() });

/** Until the held step's target is too old to be committed with its calls, as it is after any real reboot. */
async function targetIsOld(turn: WholeTurn, step: number): Promise<void> {
  await turn.until(`step ${step} is held, with an old target`, async () => {
    const generating = (await turn.pending()).find(({ type }) => type === 'generateStep');
    const committed = (await turn.ended('generateStep')).length;
    return committed === step - 1 && generating && Date.now() - generating.scheduledMs > TARGET_FRESH_MS;
  });
}

test.for([
  { what: 'an agent restart', env: () => ({}) },
  { what: 'a reboot of the machine', env: reboot },
])('I15, L10: $what between two steps takes nothing from the calls of the next', async ({ env }) => {
  const whole = await Whole.open();
  const go = join(whole.folder.root, 'go');
  const turn = await whole.startTurn([
    commands({ first: logged(whole.folder, 'first') }),
    { ...commands({ second: logged(whole.folder, 'second', 'exit 3') }), holdUntilFile: go },
    DONE,
  ]);
  await targetIsOld(turn, 2);
  await whole.agent.kill();
  await whole.startAgent(env());
  writeFileSync(go, '');
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 2 });
  expect(await turn.call('first')).toMatchObject({ status: 'exited', exitCode: 0 });
  expect(await turn.call('second')).toMatchObject({ status: 'exited', exitCode: 3 });
  expect([countRuns(whole.folder, 'first'), countRuns(whole.folder, 'second')]).toEqual([1, 1]);
});

test.for([
  { what: 'an agent restart', env: () => ({}), running: 'exited' },
  // What ran died with the machine; nobody knows how far it came.
  { what: 'a reboot of the machine', env: reboot, running: 'unknown' },
])('I15, L11: $what while calls wait for a slot takes nothing from those calls', async ({ env, running }) => {
  const whole = await Whole.open();
  const go = join(whole.folder.root, 'go');
  const busy = Array.from({ length: CALLS_SIDE_BY_SIDE_MAX }, (_, index) => `busy${index}`);
  const waiting = ['waits1', 'waits2', 'waits3', 'waits4'];
  const holding = busy.map((id) => [id, logged(whole.folder, id, `until [ -e '${go}' ]; do sleep 0.1; done`)]);
  const quick = waiting.map((id) => [id, logged(whole.folder, id, 'exit 3')]);
  const turn = await whole.startTurn([commands(Object.fromEntries([...holding, ...quick])), DONE]);
  await Promise.all(busy.map((id) => turn.running(id)));
  // So old that it is asked for anew; none is in the rows yet.
  await turn.until('the target of the turn is old', async () => {
    const { createdAt } = await turn.call('waits1');
    return Date.now() - Date.parse(createdAt) > TARGET_FRESH_MS;
  });
  for (const id of waiting) {
    const { status, target } = await turn.call(id);
    expect([status, target]).toEqual(['reserved', undefined]);
  }
  await whole.agent.kill();
  await whole.startAgent(env());
  writeFileSync(go, '');
  expect(await turn.result()).toMatchObject({ state: 'completed' });
  for (const id of busy) expect(await turn.call(id)).toMatchObject({ status: running });
  for (const id of waiting) {
    expect(await turn.call(id)).toMatchObject({ status: 'exited', exitCode: 3 });
    expect([id, countRuns(whole.folder, id)]).toEqual([id, 1]);
  }
});
