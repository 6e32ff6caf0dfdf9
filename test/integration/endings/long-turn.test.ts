import { expect, test } from 'vitest';
import type { CallOutcome } from '../../../contract/calls.ts';
import { outcomeOf, TurnWorld } from '../../fakes/turn-world.ts';
import { openBench } from '../../fixtures/turn-run.ts';
import { beatUntil, calls, gate } from '../../fixtures/turn-script.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

const STEPS = 30;
const CALLS_A_STEP = 10;
const EVENTS_MAX = 400;
/** A step is never split, so a run has what is allowed and at most one step more. */
const STEP_EVENTS_MAX = 200;

test('F07: a turn of 300 calls moves to new runs between its steps, so that its history stays small, and every result is stored once', async () => {
  const world = new TurnWorld(
    Array.from({ length: STEPS }, (_, step) =>
      calls(...Array.from({ length: CALLS_A_STEP }, (_unused, index) => `s${step}c${index}`)),
    ),
  );
  const run = await (await openBench(world)).start({ historyEventsMax: EVENTS_MAX });
  expect(await run.result()).toMatchObject({
    state: 'completed',
    steps: STEPS + 1,
    calls: STEPS * CALLS_A_STEP,
  });
  const executed = world.entries('execute');
  expect(executed).toHaveLength(STEPS * CALLS_A_STEP);
  expect(new Set(executed).size).toBe(STEPS * CALLS_A_STEP);
  expect(new Set(world.entries('recordResult')).size).toBe(STEPS * CALLS_A_STEP);
  expect(world.entries('takeTurn')).toHaveLength(1);
  expect(world.entries('endTurn')).toHaveLength(1);
  const last = (await run.handle.fetchHistory()).events ?? [];
  expect(last.length).toBeLessThan(EVENTS_MAX + STEP_EVENTS_MAX);
}, 180_000);

test('an interrupt reaches a turn that has moved', async () => {
  const world = new TurnWorld([calls('a'), calls('b'), calls('c')]);
  const end = gate<CallOutcome>();
  world.overrides.execute = ({ key }) =>
    key.endsWith('-c') ? beatUntil(end.passed) : Promise.resolve(outcomeOf('exited', 'exit'));
  world.overrides.cancelCall = async () => {
    end.open(outcomeOf('canceled', 'killed'));
    return { outcome: outcomeOf('canceled', 'killed') };
  };
  const run = await (await openBench(world)).start({ historyEventsMax: 10 });
  await waitUntil('the third call runs', () => world.entries('execute').length === 3);
  await run.interrupt();
  expect(await run.result()).toMatchObject({ state: 'interrupted', calls: 3 });
  expect((await run.calls()).map(({ status }) => status)).toEqual(['exited', 'exited', 'canceled']);
});
