import { activityInfo, Context } from '@temporalio/activity';
import { describe, expect, test } from 'vitest';
import type { CancelCallResult } from '../../contract/activity-interfaces.ts';
import type { CallOutcome } from '../../contract/calls.ts';
import type { Handle } from '../../contract/ids.ts';
import { TARGET_FRESH_MS } from '../../contract/limits.ts';
import { outcomeOf, TurnWorld } from '../fakes/turn-world.ts';
import { openBench } from '../fixtures/turn-run.ts';
import { beatUntil, calls, gate, refusal } from '../fixtures/turn-script.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

describe('the calls of a step', () => {
  test('F01: three calls, the middle one failing to start, have three results in the asked order', async () => {
    const world = new TurnWorld([calls('a', 'b', 'c')]);
    world.overrides.execute = async ({ key }) =>
      key.endsWith('-b') ? outcomeOf('no_effect', 'spawn_failed') : outcomeOf('exited', 'exit');
    const run = await (await openBench(world)).start();
    expect(await run.result()).toEqual({ state: 'completed', steps: 2, calls: 3, lastMessageId: 3 });
    expect((await run.calls()).map(({ key, status }) => `${key} ${status}`)).toEqual([
      '2-a exited',
      '2-b no_effect',
      '2-c exited',
    ]);
    expect(world.entries('recordResult')).toHaveLength(3);
    expect(world.ended).toBe('completed');
  });

  test('C1, C2: a finished call is stored while its sibling runs, and no model is asked before all are', async () => {
    const world = new TurnWorld([calls('fast', 'slow')]);
    const slow = gate<CallOutcome>();
    world.overrides.execute = ({ key }) =>
      key.endsWith('-slow') ? beatUntil(slow.passed) : Promise.resolve(outcomeOf('exited', 'exit'));
    const run = await (await openBench(world)).start();
    await run.seen('recordResult 2-fast');
    expect(world.end('fast')).toBe('exited by exit');
    expect(world.entries('generateStep')).toEqual(['generateStep 1']);
    slow.open(outcomeOf('exited', 'exit'));
    await run.result();
    expect(world.log.indexOf('recordResult 2-slow exited')).toBeLessThan(world.log.indexOf('generateStep 2'));
  });

  test('C2: a call whose worker is lost is taken up by the next attempt, and its sibling keeps its result', async () => {
    const world = new TurnWorld([calls('done', 'lost')]);
    world.overrides.execute = ({ key }) => {
      const isLostAttempt = key.endsWith('-lost') && activityInfo().attempt === 1;
      // Never beats and never ends: what the server sees of a dead worker.
      return isLostAttempt ? Context.current().cancelled : Promise.resolve(outcomeOf('exited', 'exit'));
    };
    const run = await (await openBench(world)).start();
    await run.result();
    expect(world.entries('execute 2-lost')).toHaveLength(2);
    expect(world.entries('execute 2-done')).toHaveLength(1);
    expect(world.entries('recordResult')).toHaveLength(2);
    expect([world.end('done'), world.end('lost')]).toEqual(['exited by exit', 'exited by exit']);
  });

  test('a call that is committed with its result is not dispatched', async () => {
    const world = new TurnWorld([[{ id: 'bad', status: 'no_effect', isRefused: true }, { id: 'good' }]]);
    const run = await (await openBench(world)).start();
    await run.result();
    expect(world.entries('execute')).toEqual(['execute 2-good']);
    expect(world.entries('recordResult')).toEqual(['recordResult 2-good exited']);
    expect((await run.calls()).map(({ status }) => status)).toEqual(['no_effect', 'exited']);
  });

  test('eight calls run side by side, and the others wait for a slot', async () => {
    const ids = Array.from({ length: 11 }, (_, index) => `c${index}`);
    const world = new TurnWorld([calls(...ids)]);
    const end = gate<CallOutcome>();
    let most = 0;
    let running = 0;
    world.overrides.execute = async () => {
      most = Math.max(most, ++running);
      const value = await beatUntil(end.passed);
      running -= 1;
      return value;
    };
    const run = await (await openBench(world)).start();
    await run.seen('execute', 8);
    expect((await run.calls()).map(({ status }) => status).filter((status) => status === 'reserved')).toHaveLength(3);
    end.open(outcomeOf('exited', 'exit'));
    await run.result();
    expect(most).toBe(8);
    expect(world.entries('recordResult')).toHaveLength(11);
  });

  test('ids and summaries of any text name an activity without harm to the worker', async () => {
    const long = '界'.repeat(170);
    const world = new TurnWorld([
      [{ id: long }, { id: 'a/b ../%2F\n"' }, { id: 'plain', summary: `$ echo \ud800${'x'.repeat(5000)}` }],
    ]);
    const bench = await openBench(world);
    const run = await bench.start();
    expect((await run.result()).state).toBe('completed');
    expect(new Set(world.entries('execute')).size).toBe(3);
  });
});

describe('where a call goes', () => {
  test('K5: the target is in the row before the dispatch, and what the row held already wins', async () => {
    const world = new TurnWorld([calls('a')]);
    const held = { ...world.target(), sequence: 4711 };
    world.overrides.recordTargets = async ({ keys }) => ({ targets: keys.map(() => held) });
    let dispatchedTo: unknown;
    world.overrides.execute = async ({ target }) => {
      dispatchedTo = target;
      return outcomeOf('exited', 'exit');
    };
    const run = await (await openBench(world)).start();
    await run.result();
    expect(dispatchedTo).toEqual(held);
    expect(world.log.indexOf('recordTargets 2-a')).toBeLessThan(world.log.indexOf('execute 2-a'));
  });

  test('K5: a call that was committed with its target is dispatched there without another question', async () => {
    const world = new TurnWorld([[{ id: 'a', withTarget: true }]]);
    const run = await (await openBench(world)).start();
    await run.result();
    expect(world.entries('describeAgent')).toHaveLength(1);
    expect(world.entries('recordTargets')).toEqual([]);
    expect((await run.calls())[0]?.target?.sequence).toBe(1);
  });

  test('I15: calls that waited for a slot go to where the agent is by then', async () => {
    const ids = Array.from({ length: 9 }, (_, index) => `c${index}`);
    const world = new TurnWorld([calls(...ids)]);
    const end = gate<CallOutcome>();
    const sequences: number[] = [];
    world.overrides.execute = async ({ target }) => {
      sequences.push(target.sequence);
      return beatUntil(end.passed);
    };
    const run = await (await openBench(world)).start();
    await run.seen('execute', 8);
    const isOldAt = performance.now() + TARGET_FRESH_MS + 100;
    await waitUntil('the first target is too old', () => performance.now() > isOldAt);
    end.open(outcomeOf('exited', 'exit'));
    await run.result();
    expect(sequences.slice(0, 8)).toEqual(sequences.slice(0, 8).fill(sequences[0] ?? 0));
    expect(sequences[8]).toBeGreaterThan(sequences[0] ?? 0);
  });

  test('after a conflict the agent is asked anew, although its last answer is fresh', async () => {
    const world = new TurnWorld([calls('a'), calls('b')]);
    world.overrides.execute = async ({ key }) =>
      key.endsWith('-a') ? outcomeOf('unknown', 'journal_doubtful') : outcomeOf('exited', 'exit');
    const run = await (await openBench(world)).start();
    await run.result();
    const [first, second] = ['a', 'b'].map((id) => world.row(id).call.target?.sequence ?? 0);
    expect(second).toBeGreaterThan(first ?? 0);
  });

  test('with an agent that can not be asked, "nothing ran" is the result within seconds', async () => {
    const world = new TurnWorld([calls('a', 'b')]);
    const run = await (await openBench(world, ['execute', 'control'])).start();
    const startedAt = performance.now();
    expect(await run.result()).toMatchObject({ state: 'completed', calls: 2 });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect([world.end('a'), world.end('b')]).toEqual(['no_effect by not_dispatched', 'no_effect by not_dispatched']);
    expect(world.row('a').outcome?.text).toContain('nothing ran');
    expect(world.entries('execute')).toEqual([]);
  });

  test('an agent that knows later messages than the store ends the turn before anything is dispatched', async () => {
    const world = new TurnWorld([calls('a')]);
    let asked = 0;
    world.overrides.describeAgent = async () => {
      asked += 1;
      if (asked === 1) throw refusal('agent_unreachable');
      const target = world.target();
      return { target, incarnation: target.incarnation, isReady: true, chatHighestMessageId: 99 };
    };
    const run = await (await openBench(world)).start();
    expect(await run.result()).toMatchObject({ state: 'failed', error: { code: 'store_rolled_back' } });
    expect(world.entries('execute')).toEqual([]);
    expect(world.end('a')).toBe('no_effect by not_dispatched');
    expect(world.ended).toBe('failed: store_rolled_back');
  });
});

describe('an execute that ends without a value', () => {
  const answers: Record<string, () => Promise<CancelCallResult>> = {
    exited: async () => ({ outcome: outcomeOf('exited', 'exit') }),
    running: async () => ({
      outcome: { status: 'running', evidence: { code: 'budget', detail: 'it runs' }, handle: 'p7' as Handle },
    }),
    fenced: async () => ({ outcome: outcomeOf('no_effect', 'fenced') }),
    lost: async () => ({ outcome: outcomeOf('unknown', 'lost') }),
    silent: () => Promise.reject(refusal('agent_unreachable')),
  };

  test('K7: the fence asks its agent, whose word is the result; silence is "unknown"', async () => {
    const world = new TurnWorld([calls(...Object.keys(answers))]);
    world.overrides.execute = () => Promise.reject(refusal('agent_defect', 'a lone \ud800 in a text'.toWellFormed()));
    world.overrides.cancelCall = ({ key }) => (answers[key.slice('2-'.length)] ?? Promise.reject)();
    const run = await (await openBench(world)).start();
    expect((await run.result()).state).toBe('completed');
    expect(new Set(world.entries('cancelCall').map((line) => line.split(' ')[1]))).toEqual(new Set(['fence']));
    expect(Object.keys(answers).map((id) => `${id}: ${world.end(id)}`)).toEqual([
      'exited: exited by exit',
      'running: detached by attempt_ended',
      'fenced: no_effect by fenced',
      'lost: unknown by lost',
      'silent: unknown by attempt_ended',
    ]);
    expect((await run.calls())[1]?.handle).toBe('p7');
  });

  test('K7: a call that no worker took for the whole trust window is fenced before it is given up', async () => {
    const world = new TurnWorld([calls('a')]);
    world.overrides.cancelCall = answers['silent'] ?? (() => Promise.reject());
    const run = await (await openBench(world, ['execute'])).start({ timings: { trustWindowMs: 1000 } });
    await run.result();
    expect(world.entries('cancelCall')).toContain('cancelCall fence 2-a');
    expect(world.end('a')).toBe('unknown by trust_window');
  });

  test('a result that the server refuses for its size is settled, not retried', async () => {
    const world = new TurnWorld([calls('a')]);
    world.overrides.execute = async () => outcomeOf('exited', 'exit', { text: 'x'.repeat(3_000_000) });
    world.overrides.cancelCall = async () => ({ outcome: outcomeOf('exited', 'exit') });
    const run = await (await openBench(world)).start();
    await run.result();
    expect(world.entries('execute')).toHaveLength(1);
    expect(world.end('a')).toBe('exited by exit');
  });

  test('C3: what the row held first is what the turn shows, even where the ledger would refuse it', async () => {
    const world = new TurnWorld([calls('a')]);
    world.overrides.recordResult = async () => ({
      status: 'no_effect',
      evidence: { code: 'not_dispatched', detail: 'written by another run' },
    });
    const run = await (await openBench(world)).start();
    expect((await run.result()).state).toBe('completed');
    expect(await run.calls()).toMatchObject([{ status: 'no_effect', evidence: { code: 'not_dispatched' } }]);
  });

  test('an outcome that contradicts itself is recorded as unknown, with the text that came with it', async () => {
    const world = new TurnWorld([calls('a')]);
    world.overrides.execute = async () => outcomeOf('exited', 'trust_window', { text: 'what it printed' });
    const run = await (await openBench(world)).start();
    await run.result();
    expect(world.end('a')).toBe('unknown by attempt_ended');
    expect(world.row('a').outcome?.text).toContain('what it printed');
  });
});

describe('a model call that fails', () => {
  test('C1: the step is closed, what has a target is fenced, and the turn says why', async () => {
    const world = new TurnWorld([[{ id: 'plain' }, { id: 'sent', withTarget: true }]]);
    world.overrides.generateStep = async (input) => {
      world.commit(input);
      throw refusal('model_refused', 'the provider says 400');
    };
    const run = await (await openBench(world)).start();
    expect(await run.result()).toMatchObject({
      state: 'failed',
      error: { code: 'model_refused', message: 'the provider says 400' },
    });
    expect(world.entries('generateStep')).toHaveLength(1);
    expect(world.entries('execute')).toEqual([]);
    expect(world.entries('cancelCall')).toEqual(['cancelCall fence 2-sent']);
    expect([world.end('plain'), world.end('sent')]).toEqual(['no_effect by not_dispatched', 'no_effect by fenced']);
    expect(world.ended).toBe('failed: model_refused');
  });

  test('T1: in a turn that has ended elsewhere it touches nothing', async () => {
    const world = new TurnWorld([calls('a')]);
    world.overrides.generateStep = () => Promise.reject(refusal('turn_closed'));
    const run = await (await openBench(world)).start();
    expect(await run.result()).toMatchObject({ state: 'failed', error: { code: 'turn_closed' } });
    expect(world.entries('closeStep')).toEqual([]);
    expect(world.entries('endTurn')).toEqual([]);
  });

  test.each(['chat_busy', 'store_rolled_back'])(
    'a turn that is refused as %s ends failed and is recorded',
    async (code) => {
      const world = new TurnWorld([]);
      world.overrides.takeTurn = () => Promise.reject(refusal(code));
      const run = await (await openBench(world)).start();
      expect(await run.result()).toMatchObject({ state: 'failed', steps: 0, error: { code } });
      expect(world.ended).toBe(`failed: ${code}`);
    },
  );

  test('a result that can not be stored ends the workflow as a defect, after its sibling has ended', async () => {
    const world = new TurnWorld([calls('a', 'b')]);
    const end = gate<CallOutcome>();
    world.overrides.execute = ({ key }) =>
      key.endsWith('-b') ? beatUntil(end.passed) : Promise.resolve(outcomeOf('exited', 'exit'));
    const { recordResult } = world.activities();
    world.overrides.recordResult = (input) => {
      if (input.key.endsWith('-a')) throw refusal('invariant_broken', 'no such row');
      delete world.overrides.recordResult;
      return recordResult(input);
    };
    const run = await (await openBench(world)).start();
    await run.seen('recordResult 2-a');
    end.open(outcomeOf('exited', 'exit'));
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'invariant_broken', message: 'no such row' } });
    expect(world.end('b')).toBe('exited by exit');
    expect(world.ended).toBe('failed: invariant_broken');
  });
});
