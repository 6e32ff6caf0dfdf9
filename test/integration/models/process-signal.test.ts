import { ApplicationFailure } from '@temporalio/activity';
import { expect, test } from 'vitest';
import type { CancelCallInput, GenerateStepInput, GenerateStepResult } from '../../../contract/activity-interfaces.ts';
import type { SendSignalRequest } from '../../../contract/calls.ts';
import type { Handle } from '../../../contract/ids.ts';
import { TurnWorld, outcomeOf } from '../../fakes/turn-world.ts';
import { openBench } from '../../fixtures/turn-run.ts';
import { calls, gate } from '../../fixtures/turn-script.ts';

const TERM: SendSignalRequest = { verb: 'signal', handle: 'p3' as Handle, signal: 'SIGTERM' };

/** A world whose calls of the first step send a signal. */
function signallingWorld(): TurnWorld {
  const world = new TurnWorld([calls('a'), []]);
  world.overrides.generateStep = async (input: GenerateStepInput): Promise<GenerateStepResult> => {
    const result = world.commit(input);
    const signals = result.calls.map((call) => ({
      ...call,
      toolName: 'process_signal',
      summary: 'signal',
      request: TERM,
    }));
    for (const call of signals) world.rows.get(call.key)!.call = call;
    return { ...result, calls: signals };
  };
  return world;
}

const silence = () => ApplicationFailure.create({ type: 'agent_unreachable', message: 'nobody listens there' });

test('K5: a signal is sent through the control queue after its target was recorded, and never executed', async () => {
  const world = signallingWorld();
  const run = await (await openBench(world)).start();
  expect(await run.result()).toMatchObject({ state: 'completed', calls: 1 });
  expect(world.end('a')).toBe('exited by signalled');
  expect(world.entries('execute')).toEqual([]);
  const order = world.log.filter((line) => /^(recordTargets|signalProcess|recordResult)/.test(line));
  expect(order.map((line) => line.split(' ')[0])).toEqual(['recordTargets', 'signalProcess', 'recordResult']);
});

test('K7: when no try brings an answer, a fence tells what became of the sending', async () => {
  const world = signallingWorld();
  world.overrides.signalProcess = async () => {
    throw silence();
  };
  const asked: CancelCallInput[] = [];
  world.overrides.cancelCall = async (input) => {
    asked.push(input);
    return { outcome: outcomeOf('exited', 'signalled') };
  };
  const run = await (await openBench(world)).start({ timings: { describeAgentMs: 2000 } });
  expect(await run.result()).toMatchObject({ state: 'completed' });
  expect(asked).toMatchObject([{ mode: 'fence', sending: TERM, key: world.row('a').call.key }]);
  expect(world.end('a')).toBe('exited by signalled');
});

test('K2, K7: without any word of its agent it is unknown whether the signal was sent, and a settle goes on asking', async () => {
  const world = signallingWorld();
  world.overrides.signalProcess = async () => {
    throw silence();
  };
  const isBack = gate();
  const asked: CancelCallInput[] = [];
  world.overrides.cancelCall = async (input) => {
    asked.push(input);
    if (world.row('a').outcome === undefined) throw silence();
    await isBack.passed;
    return { outcome: outcomeOf('no_effect', 'fenced') };
  };
  const bench = await openBench(world);
  const run = await bench.start({ timings: { describeAgentMs: 1000 } });
  expect(await run.result()).toMatchObject({ state: 'completed' });
  expect(world.end('a')).toBe('unknown by attempt_ended');
  expect(world.row('a').outcome?.text).toMatch(/can not be said whether SIGTERM was sent to process p3/);
  isBack.open();
  await run.seen('recordTruth');
  expect(asked.at(-1)).toMatchObject({ mode: 'fence', sending: TERM });
  expect(world.row('a').truth).toMatchObject({ status: 'no_effect', evidence: { code: 'fenced' } });
});

test('an interrupt fences a signal that has not been answered for, and keeps the true end of one that has', async () => {
  const world = signallingWorld();
  const sent = gate();
  world.overrides.signalProcess = async () => {
    await sent.passed;
    return outcomeOf('exited', 'signalled');
  };
  world.overrides.cancelCall = async (input) => {
    expect(input).toMatchObject({ sending: TERM });
    sent.open();
    return { outcome: outcomeOf('no_effect', 'fenced') };
  };
  const run = await (await openBench(world)).start();
  await run.seen('signalProcess');
  await run.handle.cancel();
  expect(await run.result()).toMatchObject({ state: 'interrupted' });
  expect(world.end('a')).toBe('exited by signalled');
});
