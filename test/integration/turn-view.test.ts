import { Worker } from '@temporalio/worker';
import { describe, expect, inject, test } from 'vitest';
import type { CallOutcome } from '../../contract/calls.ts';
import type { Handle } from '../../contract/ids.ts';
import { outcomeOf, TurnWorld } from '../fakes/turn-world.ts';
import { openBench } from '../fixtures/turn-run.ts';
import { beatUntil, calls, gate, refusal } from '../fixtures/turn-script.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

describe('what is seen from outside', () => {
  test('the turn is found by chat, agent and state, its calls are a query and a table', async () => {
    const world = new TurnWorld([[{ id: 'a', summary: '$ echo a | tee `x`' }, { id: 'b' }]]);
    const end = gate<CallOutcome>();
    world.overrides.execute = () => beatUntil(end.passed);
    const bench = await openBench(world);
    const run = await bench.start();
    await run.seen('execute', 2);
    expect(await run.calls()).toMatchObject([
      {
        key: '2-a',
        step: 1,
        toolName: 'execute',
        status: 'starting',
        agentId: world.agentId,
        target: { journalId: 'journal-1' },
      },
      { key: '2-b', step: 1, status: 'starting' },
    ]);
    expect((await run.currentDetails()).split('\n')).toEqual([
      '| key | status | handle | evidence | summary |',
      '| :--- | :--- | :--- | :--- | :--- |',
      "| `2-a` | starting |  | see Pending Activities | `$ echo a` \\| `tee 'x'` |",
      '| `2-b` | starting |  | see Pending Activities | `$ echo b` |',
    ]);
    end.open(outcomeOf('exited', 'exit', { handle: 'p1' as Handle, exit: { code: 3, durationMs: 1 } }));
    await run.result();
    expect(await run.currentDetails()).toContain('| `2-b` | exited | p1 | exit 3 | `$ echo b` |');
    const query = `ChatId = '${world.chatId}' AND AgentId = '${world.agentId}' AND TurnState = 'completed'`;
    await waitUntil(
      `one turn is found by ${query}`,
      async () => (await bench.client.workflow.count(query)).count === 1,
    );
  });

  test('one more call of a step costs at most 10 events and 8 KiB of history', async () => {
    const sizeOf = async (count: number): Promise<{ events: number; bytes: number }> => {
      const world = new TurnWorld([calls(...Array.from({ length: count }, (_, index) => `toolu_${index}`))]);
      const ends = Array.from({ length: count }, () => gate<CallOutcome>());
      world.overrides.execute = ({ key }) => beatUntil(ends[Number(key.split('_')[1])]?.passed ?? Promise.reject());
      const run = await (await openBench(world)).start();
      await run.seen('execute', count);
      // One after another: each end then has a workflow task of its own, which is the dear case.
      for (const [index, end] of ends.entries()) {
        end.open(outcomeOf('exited', 'exit', { text: 'x'.repeat(500) }));
        await run.seen('recordResult', index + 1);
      }
      await run.result();
      const { historyLength, historySize } = await run.handle.describe();
      return { events: historyLength, bytes: historySize ?? 0 };
    };
    const one = await sizeOf(1);
    const seven = await sizeOf(7);
    const events = (seven.events - one.events) / 6;
    const bytes = (seven.bytes - one.bytes) / 6;
    console.log(
      `history of a turn with one call: ${JSON.stringify(one)}; one more call: ${events} events, ${bytes} bytes`,
    );
    expect(events).toBeLessThanOrEqual(10);
    expect(bytes).toBeLessThanOrEqual(8 * 1024);
  });

  test('the histories of a whole, a failed and an interrupted turn replay', async () => {
    const whole = new TurnWorld([calls('a', 'b'), calls('c')]);
    const failed = new TurnWorld([[{ id: 'a', withTarget: true }]]);
    failed.overrides.generateStep = async (input) => {
      failed.commit(input);
      throw refusal('model_refused');
    };
    const interrupted = new TurnWorld([calls('a')]);
    const end = gate<CallOutcome>();
    interrupted.overrides.execute = () => beatUntil(end.passed);
    interrupted.overrides.cancelCall = async () => {
      end.open(outcomeOf('canceled', 'killed'));
      return { outcome: outcomeOf('canceled', 'killed') };
    };
    for (const world of [whole, failed, interrupted]) {
      const run = await (await openBench(world)).start();
      if (world === interrupted) {
        await run.seen('execute');
        await run.handle.cancel();
      }
      await run.result();
      const history = await run.handle.fetchHistory();
      const workflowBundle = { codePath: inject('workflowBundlePath') };
      await Worker.runReplayHistory({ workflowBundle }, history, run.handle.workflowId);
    }
  });
});
