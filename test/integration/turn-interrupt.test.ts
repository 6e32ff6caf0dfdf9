import { ApplicationFailure, Context } from '@temporalio/activity';
import { describe, expect, test } from 'vitest';
import type { CallOutcome } from '../../contract/calls.ts';
import { outcomeOf, TurnWorld } from '../fakes/turn-world.ts';
import { openBench } from '../fixtures/turn-run.ts';
import { beatUntil, calls, gate } from '../fixtures/turn-script.ts';

describe('a cancel of the workflow', () => {
  test('it kills what runs by key, records its true end, starts nothing more, and the turn is interrupted', async () => {
    const ids = Array.from({ length: 9 }, (_, index) => `c${index}`);
    const world = new TurnWorld([calls(...ids)]);
    const ends = new Map(ids.map((id) => [`2-${id}`, gate<CallOutcome>()]));
    world.overrides.execute = ({ key }) => beatUntil(ends.get(key)?.passed ?? Promise.reject(new Error(key)));
    world.overrides.cancelCall = async ({ key }) => {
      // The first one's exit won the race (G05); the others were killed.
      const end = key === '2-c0' ? outcomeOf('exited', 'exit') : outcomeOf('canceled', 'killed', { text: 'partial' });
      ends.get(key)?.open(end);
      return { outcome: end };
    };
    const run = await (await openBench(world)).start();
    await run.seen('execute', 8);
    await run.handle.cancel();
    expect(await run.result()).toMatchObject({ state: 'interrupted', steps: 1, calls: 9 });
    expect(world.end('c0')).toBe('exited by exit');
    expect(world.end('c1')).toBe('canceled by killed');
    expect(world.row('c1').outcome?.text).toBe('partial');
    expect(world.end('c8')).toBe('canceled by not_dispatched');
    expect(world.entries('cancelCall kill')).toHaveLength(8);
    expect(world.entries('execute')).toHaveLength(8);
    // Each once; a workflow task that timed out on a busy machine writes the same again.
    expect(new Set(world.entries('recordResult')).size).toBe(9);
    expect(world.ended).toBe('interrupted');
  });

  test('with an agent that is away the turn ends within its grace, and the call is still asked for', async () => {
    const world = new TurnWorld([calls('a')]);
    world.overrides.execute = () => beatUntil(new Promise(() => undefined));
    world.overrides.cancelCall = () => Promise.reject(ApplicationFailure.retryable('away', 'agent_unreachable'));
    const run = await (await openBench(world)).start({ timings: { interruptGraceMs: 1500, settleForMs: 3000 } });
    await run.seen('execute');
    const canceledAt = performance.now();
    await run.handle.cancel();
    expect((await run.result()).state).toBe('interrupted');
    expect(performance.now() - canceledAt).toBeLessThan(4500);
    expect(world.end('a')).toBe('unknown by agent_silent');
    expect(world.row('a').isStillAsked).toBe(true);
  });

  test('a start that met the fence of an interrupt is canceled, and so is a fence found by the kill', async () => {
    const world = new TurnWorld([calls('met', 'unseen')]);
    const met = gate<CallOutcome>();
    world.overrides.execute = ({ key }) => beatUntil(key === '2-met' ? met.passed : new Promise(() => undefined));
    world.overrides.cancelCall = async ({ key }) => {
      if (key === '2-met') met.open(outcomeOf('no_effect', 'fenced'));
      return { outcome: outcomeOf('no_effect', 'fenced') };
    };
    const run = await (await openBench(world)).start({ timings: { interruptGraceMs: 1000 } });
    await run.seen('execute', 2);
    await run.handle.cancel();
    await run.result();
    expect([world.end('met'), world.end('unseen')]).toEqual(['canceled by fenced', 'canceled by fenced']);
  });

  test('while the model is asked it closes the step, and a call with a target is ended by its agent', async () => {
    const world = new TurnWorld([[{ id: 'plain' }, { id: 'sent', withTarget: true }]]);
    world.overrides.generateStep = async (input) => {
      world.commit(input);
      return beatUntil(new Promise(() => undefined)) as Promise<never>;
    };
    const run = await (await openBench(world)).start();
    await run.seen('generateStep');
    await run.handle.cancel();
    expect((await run.result()).state).toBe('interrupted');
    expect(world.entries('closeStep')).toHaveLength(1);
    expect([world.end('plain'), world.end('sent')]).toEqual(['no_effect by not_dispatched', 'canceled by fenced']);
  });

  test('C6: an interrupt asks the agent; the attempt itself is let go only when it did not end by itself', async () => {
    const world = new TurnWorld([calls('a')]);
    const end = gate<CallOutcome>();
    let wasCanceled = false;
    world.overrides.execute = async () => {
      Context.current().cancelled.catch(() => (wasCanceled = true));
      return beatUntil(end.passed);
    };
    world.overrides.cancelCall = async () => {
      end.open(outcomeOf('canceled', 'killed'));
      return { outcome: outcomeOf('canceled', 'killed') };
    };
    const run = await (await openBench(world)).start();
    await run.seen('execute');
    await run.handle.cancel();
    await run.result();
    expect(wasCanceled).toBe(false);
  });
});
