import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startDevServer } from '../../../tools/temporal/dev-server.ts';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

const WINDOW_MS = 3000;
const FROZEN_MS = 2 * WINDOW_MS;
const timings = {
  heartbeatTimeoutMs: WINDOW_MS / 2,
  trustWindowMs: WINDOW_MS,
  describeAgentMs: WINDOW_MS,
  interruptGraceMs: WINDOW_MS,
};

test('I10: a live command is not called unknown after server, workers and agent were all stopped for longer than every window', async () => {
  const data = mkdtempSync(join(tmpdir(), 'latchkey-server-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  const server = await startDevServer({ dbFile: join(data, 'temporal.db') });
  onTestFinished(() => server.stop());
  const whole = await Whole.open({ temporalAddress: server.address });
  const go = join(whole.folder.root, 'go');
  const held = logged(whole.folder, 'held', `until [ -e '${go}' ]; do sleep 0.1; done; exit 3`);
  const turn = await whole.startTurn([commands({ held }), DONE], { timings });
  const running = await turn.running('held');
  const pids = [server.pid, ...[...whole.agents, ...whole.workers].map(({ child }) => child.pid)];
  const signalAll = (signal: NodeJS.Signals) => {
    for (const pid of pids) if (pid !== undefined) process.kill(pid, signal);
  };
  // Stopped, it could not be asked to end.
  onTestFinished(() => void (server.pid !== undefined && process.kill(server.pid, 'SIGCONT')));
  signalAll('SIGSTOP');
  const frozenAtMs = performance.now();
  await turn.until('every window is over', () => performance.now() - frozenAtMs > FROZEN_MS);
  const { exchanges } = whole.proxy;
  const before = exchanges.length;
  signalAll('SIGCONT');
  const wokeAtMs = performance.now();
  const { key } = await turn.call('held');
  await turn.until('an attempt attends the command', () =>
    exchanges.slice(before).some(({ answer }) => answer?.['handle'] === running.heartbeat?.handle),
  );
  await turn.until('what a timer of the long pause could begin would have ended', async () => {
    const pending = (await turn.pending()).find(({ activityId }) => activityId === key);
    return performance.now() - wokeAtMs > WINDOW_MS && pending?.heartbeat?.phase === 'running';
  });
  expect(await turn.call('held')).toMatchObject({ status: 'reserved' });
  writeFileSync(go, '');
  expect(await turn.result()).toMatchObject({ state: 'completed' });
  expect(await turn.call('held')).toMatchObject({ status: 'exited', exitCode: 3 });
  expect(countRuns(whole.folder, 'held')).toBe(1);
});
