import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TARGET_FRESH_MS } from '../../../contract/limits.ts';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

const DESCRIBE_AGENT_MS = 2000;
const TRUST_WINDOW_MS = 3000;
const timings = { describeAgentMs: DESCRIBE_AGENT_MS, trustWindowMs: TRUST_WINDOW_MS };

const gone = [
  { who: 'the agent is', isWorkerGone: false },
  { who: 'agent and execute worker are', isWorkerGone: true },
];

/** The chat is not wedged: with everybody back, the next turn's command runs. */
async function goesOn(whole: Whole, isWorkerGone: boolean): Promise<void> {
  await whole.startAgent();
  if (isWorkerGone) await whole.startExecuteWorker();
  const next = await whole.startTurn([commands({ after: logged(whole.folder, 'after', 'exit 3') }), DONE]);
  expect(await next.result()).toMatchObject({ state: 'completed' });
  expect(await next.call('after')).toMatchObject({ status: 'exited', exitCode: 3 });
}

describe('E10: an agent that can not be reached', () => {
  test.for(gone)('ends a call as "nothing ran" in seconds when $who gone before it has a target', async (given) => {
    const whole = await Whole.open();
    const go = join(whole.folder.root, 'go');
    const step = { ...commands({ a: logged(whole.folder, 'a'), b: logged(whole.folder, 'b') }), holdUntilFile: go };
    const turn = await whole.startTurn([step, DONE], { timings });
    await turn.until('the target of the turn is old', async () => {
      const generating = (await turn.pending()).find(({ type }) => type === 'generateStep');
      return generating && Date.now() - generating.scheduledMs > TARGET_FRESH_MS;
    });
    await whole.agent.kill();
    if (given.isWorkerGone) await whole.worker('execute-worker').kill();
    writeFileSync(go, '');
    expect(await turn.result()).toMatchObject({ state: 'completed', calls: 2 });
    for (const call of await turn.calls()) {
      expect(call).toMatchObject({ status: 'no_effect', evidence: { code: 'not_dispatched' } });
      expect(call.result?.text).toMatch(/nothing ran.*could not be reached.*safe to ask for it again/);
      const tookMs = Date.parse(call.resolvedAt ?? '') - Date.parse(call.createdAt);
      expect(tookMs).toBeLessThan(DESCRIBE_AGENT_MS + 5000);
    }
    await goesOn(whole, given.isWorkerGone);
    // K5: it was said that nothing ran.
    expect(['a', 'b'].map((key) => countRuns(whole.folder, key))).toEqual([0, 0]);
  });

  test.for(gone)(
    'is shown with its "since" by the pending activity, and past the trust window the call is unknown, when $who gone in mid-command',
    async (given) => {
      const whole = await Whole.open();
      const turn = await whole.startTurn([commands({ long: logged(whole.folder, 'long', 'sleep 300') }), DONE], {
        timings,
      });
      await turn.running('long');
      const goneAtMs = Date.now();
      await whole.agent.kill();
      const away = await turn.until('the pending activity says since when', async () => {
        const pending = (await turn.pending()).find(({ type }) => type === 'execute');
        return pending?.heartbeat?.phase === 'unreachable' && pending.heartbeat;
      });
      expect(Date.parse(away.unreachableSince ?? '')).toBeGreaterThanOrEqual(goneAtMs);
      expect(away.handle).toBeDefined();
      if (given.isWorkerGone) await whole.worker('execute-worker').kill();
      expect(await turn.result()).toMatchObject({ state: 'completed' });
      expect(Date.now() - goneAtMs).toBeGreaterThanOrEqual(TRUST_WINDOW_MS);
      const call = await turn.call('long');
      expect(call).toMatchObject({ status: 'unknown', evidence: { code: 'trust_window' } });
      expect(call.result?.text).not.toMatch(/nothing ran/);
      expect(call.result?.text).toMatch(/[Cc]heck what it would have changed/);
      await goesOn(whole, given.isWorkerGone);
      expect(countRuns(whole.folder, 'long')).toBe(1);
    },
  );

  test('never makes a start whose answers are all lost a "nothing ran"', async () => {
    const whole = await Whole.open();
    whole.proxy.faultOf = ({ verb }) => (verb === 'start' || verb === 'cancel' ? 'cut' : undefined);
    const turn = await whole.startTurn([commands({ lost: logged(whole.folder, 'lost') }), DONE], { timings });
    expect(await turn.result()).toMatchObject({ state: 'completed' });
    const call = await turn.call('lost');
    expect(call).toMatchObject({ status: 'unknown', evidence: { code: 'trust_window' } });
    expect(call.result?.text).not.toMatch(/nothing ran/);
    expect(countRuns(whole.folder, 'lost')).toBe(1);
  });
});
