/** The danger: the agent dies at any point of a start. The run log has at most one line, and the state is true. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CrashPoint } from '../../../agent/crash-points.ts';
import {
  AgentProcess,
  awaitEnd,
  countRuns,
  keyed,
  logged,
  makeAgentFolder,
  startRequest,
} from '../../fixtures/agent-process.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

const START_POINTS: CrashPoint[] = [
  'before-reserve',
  'after-reserve',
  'after-launch',
  'after-started',
  'after-exit',
  'before-answer',
];

for (const point of START_POINTS) {
  test(`D01: the agent killed at "${point}" and restarted runs the key at most once, and once when asked again`, async () => {
    const folder = makeAgentFolder();
    const doomed = await AgentProcess.start(folder, { env: { LATCHKEY_CRASH_AT: point } });
    const target = await doomed.target();
    const request = startRequest(target, '1-call', logged(folder, '1-call', 'echo out; exit 7'));
    await doomed.client.start(request).catch(() => undefined);
    await doomed.client.output({ ...keyed(target, '1-call'), waitMs: 5000 }).catch(() => undefined);
    await doomed.ended();

    const agent = await AgentProcess.start(folder);
    const runsBefore = countRuns(folder, '1-call');
    const probe = await agent.client.probe(keyed(target, '1-call'));
    if (probe.state === 'void' || probe.state === 'absent') expect(runsBefore).toBe(0);
    await agent.client.start(request);
    expect(await awaitEnd(agent.client, target, '1-call')).toMatchObject({ exit: { code: 7 }, text: 'out\n' });
    expect(countRuns(folder, '1-call')).toBe(1);
  });
}

describe('L01: an agent killed while a command runs, and restarted in the same boot', () => {
  test('D01, K1: adopts the command, and gives the real result', async () => {
    const folder = makeAgentFolder();
    const doomed = await AgentProcess.start(folder);
    const target = await doomed.target();
    const request = startRequest(
      target,
      '1-call',
      logged(
        folder,
        '1-call',
        `echo before; while [ ! -e '${folder.root}/go' ]; do sleep 0.1; done; echo after; exit 7`,
      ),
    );
    const started = await doomed.client.start(request);
    await doomed.kill();

    const agent = await AgentProcess.start(folder);
    expect(agent.log).toContain('1 commands adopted');
    expect(await agent.client.probe(keyed(target, '1-call'))).toMatchObject({ state: 'running' });
    const attached = await agent.client.start(request);
    if (started.outcome === 'absent') throw new Error();
    expect(attached).toMatchObject({ outcome: 'attached', handle: started.handle, startedAt: started.startedAt });
    writeFileSync(join(folder.root, 'go'), '');
    expect(await awaitEnd(agent.client, target, '1-call')).toMatchObject({
      state: 'exited',
      exit: { code: 7 },
      text: 'before\nafter\n',
    });
    expect(countRuns(folder, '1-call')).toBe(1);
  });
});

test('L02: an agent killed after the reserve finds the key void, and a plain start runs it as attempt 2', async () => {
  const folder = makeAgentFolder();
  const doomed = await AgentProcess.start(folder, { env: { LATCHKEY_CRASH_AT: 'after-reserve' } });
  const target = await doomed.target();
  const request = startRequest(target, '2-call', logged(folder, '2-call'));
  await expect(doomed.client.start(request)).rejects.toMatchObject({ code: 'agent_unreachable' });
  await doomed.ended();

  const agent = await AgentProcess.start(folder);
  expect(await agent.client.probe(keyed(target, '2-call'))).toMatchObject({ state: 'void' });
  expect(await agent.client.start(request)).toMatchObject({ outcome: 'started', launches: 2 });
  await awaitEnd(agent.client, target, '2-call');
  expect(countRuns(folder, '2-call')).toBe(1);
});

describe('L09: the agent restarts, the row is void, a settle fences it, and a later start arrives', () => {
  test('B09, K6: a fence on a void key holds, also after a restart', async () => {
    const folder = makeAgentFolder();
    const doomed = await AgentProcess.start(folder, { env: { LATCHKEY_CRASH_AT: 'after-reserve' } });
    const target = await doomed.target();
    const request = startRequest(target, '9-call', logged(folder, '9-call'));
    await doomed.client.start(request).catch(() => undefined);
    await doomed.ended();

    const agent = await AgentProcess.start(folder);
    expect(await agent.client.cancel({ ...keyed(target, '9-call'), mode: 'fence' })).toMatchObject({ state: 'fenced' });
    await expect(agent.client.start(request)).rejects.toMatchObject({ code: 'canceled' });
    await agent.kill();
    const next = await AgentProcess.start(folder);
    await expect(next.client.start(request)).rejects.toMatchObject({ code: 'canceled' });
    expect(countRuns(folder, '9-call')).toBe(0);
  });
});

test('B01: a fence of an unseen key holds after the agent was killed', async () => {
  const folder = makeAgentFolder();
  const first = await AgentProcess.start(folder);
  const target = await first.target();
  await first.client.cancel({ ...keyed(target, '1-unseen'), mode: 'fence' });
  await first.kill();
  const second = await AgentProcess.start(folder);
  const request = startRequest(target, '1-unseen', logged(folder, '1-unseen'));
  await expect(second.client.start(request)).rejects.toMatchObject({ code: 'canceled' });
  expect(countRuns(folder, '1-unseen')).toBe(0);
});

test('C4: the age counts from the original start over a restart, and a kill intent is resumed', async () => {
  const folder = makeAgentFolder();
  const doomed = await AgentProcess.start(folder);
  const target = await doomed.target();
  const request = startRequest(target, '4-call', logged(folder, '4-call', 'sleep 60'), { killAfterMs: 2500 });
  await doomed.client.start(request);
  await doomed.kill();
  const agent = await AgentProcess.start(folder);
  const attached = await agent.client.start(request);
  if (attached.outcome === 'absent') throw new Error();
  expect(attached.ageMs).toBeGreaterThan(100);
  const end = await awaitEnd(agent.client, target, '4-call');
  expect(end.exit).toMatchObject({ code: 143, killedBy: 'kill_after' });
  expect(end.exit?.durationMs).toBeGreaterThanOrEqual(2400);
  await waitUntil('the run log has its line', () => countRuns(folder, '4-call') === 1);
});
