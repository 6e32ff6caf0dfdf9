import { expect, test } from 'vitest';
import type { CallOutcome } from '../../../contract/calls.ts';
import type { ExecutionKey, Handle } from '../../../contract/ids.ts';
import type { InterruptRequest } from '../../../contract/operator.ts';
import { outcomeOf, TurnWorld } from '../../fakes/turn-world.ts';
import { openBench } from '../../fixtures/turn-run.ts';
import { beatUntil, calls, gate, refusal } from '../../fixtures/turn-script.ts';

const NEVER = new Promise<CallOutcome>(() => undefined);

test('an interrupt answers when it is filed, once as new; what is no request is refused by name', async () => {
  const world = new TurnWorld([calls('a')]);
  const end = gate<CallOutcome>();
  world.overrides.execute = () => beatUntil(end.passed);
  const stopped = gate();
  world.overrides.cancelCall = async () => {
    await stopped.passed;
    end.open(outcomeOf('canceled', 'killed'));
    return { outcome: outcomeOf('canceled', 'killed') };
  };
  const run = await (await openBench(world)).start();
  await run.seen('execute');
  await expect(run.interrupt('now' as InterruptRequest)).rejects.toMatchObject({
    cause: { message: expect.stringContaining('{"who": "…"}') as string },
  });
  expect(await run.interrupt({ who: 'Ann' })).toEqual({ isNew: true });
  expect(await run.interrupt()).toEqual({ isNew: false });
  stopped.open();
  expect((await run.result()).state).toBe('interrupted');
  expect(world.end('a')).toBe('canceled by killed');
});

test("G02: an interrupt between the model's answer and the first start cancels the calls, and none runs", async () => {
  const world = new TurnWorld([[{ id: 'sent', withTarget: true }, { id: 'plain' }]]);
  const answered = gate();
  world.overrides.generateStep = async (input) => {
    const committed = world.commit(input);
    await answered.passed;
    return committed;
  };
  const run = await (await openBench(world)).start();
  await run.seen('generateStep');
  expect(await run.interrupt()).toEqual({ isNew: true });
  answered.open();
  expect((await run.result()).state).toBe('interrupted');
  expect(world.entries('execute')).toEqual([]);
  expect(world.end('sent')).toMatch(/by fenced|by not_dispatched/);
  expect(world.end('plain')).toMatch(/by not_dispatched/);
});

test('G02: a start that was on its way meets the fence, and is canceled', async () => {
  const world = new TurnWorld([calls('a')]);
  const met = gate<CallOutcome>();
  world.overrides.execute = () => beatUntil(met.passed);
  world.overrides.cancelCall = async () => {
    met.open(outcomeOf('no_effect', 'fenced'));
    return { outcome: outcomeOf('no_effect', 'fenced') };
  };
  const run = await (await openBench(world)).start();
  await run.seen('execute');
  await run.interrupt();
  await run.result();
  expect(world.end('a')).toBe('canceled by fenced');
});

test('G04: a background call that is just being started is fenced and not killed; with a process it lives on', async () => {
  const world = new TurnWorld([
    [{ id: 'begun', background: true }, { id: 'unseen', background: true }, { id: 'front' }],
  ]);
  const killed = gate<CallOutcome>();
  world.overrides.execute = ({ key }) => beatUntil(key.endsWith('-front') ? killed.passed : NEVER);
  world.overrides.cancelCall = async ({ key }) => {
    if (key.endsWith('-begun')) {
      const evidence = { code: 'budget', detail: 'it runs' } as const;
      return { outcome: { status: 'running', evidence, handle: 'p7' as Handle } };
    }
    if (key.endsWith('-unseen')) return { outcome: outcomeOf('no_effect', 'fenced') };
    killed.open(outcomeOf('canceled', 'killed'));
    return { outcome: outcomeOf('canceled', 'killed') };
  };
  const run = await (await openBench(world)).start({ timings: { interruptGraceMs: 1500 } });
  await run.seen('execute', 3);
  await run.interrupt();
  await run.result();
  const asked = world.entries('cancelCall').toSorted();
  expect(asked).toEqual(['cancelCall fence 2-begun', 'cancelCall fence 2-unseen', 'cancelCall kill 2-front']);
  expect(['begun', 'unseen', 'front'].map((id) => world.end(id))).toEqual([
    'detached by background',
    'canceled by fenced',
    'canceled by killed',
  ]);
  expect(world.row('begun').outcome).toMatchObject({ handle: 'p7', text: expect.stringContaining('p7') as string });
});

test('G03: with its agent away the turn ends within its grace, and a settle kills the command when it is back', async () => {
  const world = new TurnWorld([calls('a')]);
  world.overrides.execute = () => beatUntil(NEVER);
  let isBack = false;
  world.overrides.cancelCall = async () => {
    if (!isBack) throw Object.assign(new Error('away'), { name: 'Away' });
    return { outcome: outcomeOf('canceled', 'killed', { text: 'what it had printed' }) };
  };
  const bench = await openBench(world);
  const run = await bench.start({ timings: { interruptGraceMs: 1500 } });
  await run.seen('execute');
  await run.interrupt();
  expect((await run.result()).state).toBe('interrupted');
  expect(world.row('a')).toMatchObject({ isStillAsked: true, outcome: { status: 'unknown' } });
  expect((await run.calls())[0]?.status).toBe('cancel_requested');
  isBack = true;
  expect(await bench.settleOf('2-a' as ExecutionKey).result()).toMatchObject({ status: 'canceled' });
  expect(world.row('a').truth).toMatchObject({ status: 'canceled', text: 'what it had printed' });
  expect(new Set(world.entries('cancelCall'))).toEqual(new Set(['cancelCall kill 2-a']));
});

test('K7: a call that nobody answers for is unknown only after its settle has been started', async () => {
  const world = new TurnWorld([calls('a')]);
  world.overrides.execute = () => Promise.reject(refusal('agent_defect'));
  world.overrides.cancelCall = () => Promise.reject(refusal('agent_unreachable'));
  const bench = await openBench(world);
  const { recordResult } = world.activities();
  const status = Promise.withResolvers<string>();
  world.overrides.recordResult = async (input) => {
    delete world.overrides.recordResult;
    status.resolve((await bench.settleOf(input.key).describe()).status.name);
    return recordResult(input);
  };
  const run = await bench.start({ timings: { settleForMs: 20_000 } });
  await run.result();
  expect(world.end('a')).toBe('unknown by attempt_ended');
  expect(await status.promise).toBe('RUNNING');
  await bench.settleOf('2-a' as ExecutionKey).terminate();
});

test('G05: the exit that races the interrupt is reported as the exit, once', async () => {
  const world = new TurnWorld([calls('a')]);
  const end = gate<CallOutcome>();
  world.overrides.execute = () => beatUntil(end.passed);
  world.overrides.cancelCall = async () => {
    end.open(outcomeOf('exited', 'exit'));
    return { outcome: outcomeOf('exited', 'exit') };
  };
  const run = await (await openBench(world)).start();
  await run.seen('execute');
  await run.interrupt();
  await run.result();
  expect(world.end('a')).toBe('exited by exit');
  expect(world.entries('recordResult')).toHaveLength(1);
});
