import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TARGET_FRESH_MS } from '../../../contract/limits.ts';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('I01: when the state folder is wiped between two steps, the calls of the next run nowhere and say so', async () => {
  const whole = await Whole.open();
  const go = join(whole.folder.root, 'go');
  const turn = await whole.startTurn(
    [
      commands({ before: logged(whole.folder, 'before') }),
      { ...commands({ after: logged(whole.folder, 'after') }), holdUntilFile: go },
      DONE,
    ],
    { timings: { describeAgentMs: 4000 } },
  );
  await turn.until('the second step is held, with an old target', async () => {
    const generating = (await turn.pending()).find(({ type }) => type === 'generateStep');
    const isSecond = (await turn.findCall('before'))?.status === 'exited';
    return isSecond && generating && Date.now() - generating.scheduledMs > TARGET_FRESH_MS;
  });
  const { agentId } = await whole.agent.target();
  await whole.agent.kill();
  rmSync(whole.folder.state, { recursive: true });
  const fresh = await whole.startAgent();
  expect((await fresh.target()).agentId).not.toBe(agentId);
  writeFileSync(go, '');
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 2 });

  expect(await turn.call('before')).toMatchObject({ status: 'exited', exitCode: 0 });
  const after = await turn.call('after');
  expect(after).toMatchObject({ status: 'no_effect', evidence: { code: 'not_dispatched' } });
  expect(after.result?.text).toMatch(/^\[nothing ran: .*is not here any more/);
  expect([countRuns(whole.folder, 'before'), countRuns(whole.folder, 'after')]).toEqual([1, 0]);
  expect(whole.proxy.of('start', after.key)).toEqual([]);
});

test('I01: when the state folder is wiped in mid-command, the call is unknown and nothing runs again', async () => {
  const whole = await Whole.open();
  const turn = await whole.startTurn([commands({ long: logged(whole.folder, 'long', 'sleep 60') }), DONE], {
    timings: { trustWindowMs: 4000, describeAgentMs: 2000 },
  });
  await turn.running('long');
  await whole.agent.kill();
  rmSync(whole.folder.state, { recursive: true });
  await whole.startAgent();
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 1 });
  const call = await turn.call('long');
  // Another agent's word ends nothing (E12), so this is the silence of the one that had it.
  expect(call).toMatchObject({ status: 'unknown', evidence: { code: 'trust_window' } });
  expect(call.result?.text).toMatch(/outcome unknown: .*may have run.*Before running it again, check/);
  expect(countRuns(whole.folder, 'long')).toBe(1);
});
