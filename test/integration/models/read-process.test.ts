import { ApplicationFailure } from '@temporalio/activity';
import { expect, test } from 'vitest';
import type { GenerateStepInput, GenerateStepResult } from '../../../contract/activity-interfaces.ts';
import type { ProcessRequest } from '../../../contract/calls.ts';
import { TurnWorld, outcomeOf } from '../../fakes/turn-world.ts';
import { openBench } from '../../fixtures/turn-run.ts';
import { calls, gate } from '../../fixtures/turn-script.ts';

const LIST: ProcessRequest = { verb: 'list', includeEnded: false };

/** A world whose calls of the first step only ask about processes. */
function readingWorld(): TurnWorld {
  const world = new TurnWorld([calls('a'), []]);
  world.overrides.generateStep = async (input: GenerateStepInput): Promise<GenerateStepResult> => {
    const result = world.commit(input);
    const reads = result.calls.map((call) => ({
      ...call,
      toolName: 'process_list',
      summary: 'process_list',
      request: LIST,
    }));
    for (const call of reads) world.rows.get(call.key)!.call = call;
    return { ...result, calls: reads };
  };
  return world;
}

test('a read is asked of the control queue with the recorded target, and never executed', async () => {
  const world = readingWorld();
  const run = await (await openBench(world)).start();
  expect(await run.result()).toMatchObject({ state: 'completed', calls: 1 });
  expect(world.end('a')).toBe('no_effect by read');
  expect(world.entries('execute')).toEqual([]);
  expect(world.entries('recordTargets')).toHaveLength(1);
});

const silence = () => ApplicationFailure.create({ type: 'agent_unreachable', message: 'nobody listens there' });

test('a read that fails once is asked again', async () => {
  const world = readingWorld();
  let asked = 0;
  world.overrides.readProcess = async () => {
    asked += 1;
    if (asked === 1) throw silence();
    return outcomeOf('no_effect', 'read');
  };
  const run = await (await openBench(world)).start({ timings: { describeAgentMs: 30_000 } });
  expect(await run.result()).toMatchObject({ state: 'completed' });
  expect(asked).toBe(2);
  expect(world.end('a')).toBe('no_effect by read');
});

test('of an agent that stays away the result says that nothing was changed, and the turn goes on', async () => {
  const world = readingWorld();
  world.overrides.readProcess = async () => {
    throw silence();
  };
  const run = await (await openBench(world)).start({ timings: { describeAgentMs: 2000 } });
  expect(await run.result()).toMatchObject({ state: 'completed' });
  expect(world.end('a')).toBe('no_effect by void');
  expect(world.row('a').outcome?.text).toMatch(/not read: .*did not answer.*Nothing was changed/);
});

test('an interrupt lets a read go at once, without asking the agent to kill anything', async () => {
  const world = readingWorld();
  const never = gate();
  world.overrides.readProcess = async () => {
    await never.passed;
    throw new Error('it is let go before');
  };
  const run = await (await openBench(world)).start();
  await run.seen('readProcess');
  await run.handle.cancel();
  expect(await run.result()).toMatchObject({ state: 'interrupted' });
  never.open();
  expect(world.end('a')).toBe('canceled by void');
  expect(world.entries('cancelCall')).toEqual([]);
});
