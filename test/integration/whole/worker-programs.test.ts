import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { findMarked } from '../../fixtures/processes.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';
import { WorkerProcess } from '../../fixtures/worker-process.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-programs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An address at which nobody listens. */
async function freeAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `127.0.0.1:${address.port}`;
}

/** What it said is one line about the cause: no stack, no second telling. */
function expectOneLine(worker: WorkerProcess, text: RegExp): void {
  expect(worker.errors.trimEnd().split('\n')).toHaveLength(1);
  expect(worker.errors).toMatch(text);
  expect(worker.errors).not.toMatch(/^\s+at /m);
}

describe('a worker program that can not begin', () => {
  const NOWHERE = 'unix:/nowhere/agent.sock';

  test.for<[string, 'execute-worker' | 'turn-worker', Record<string, string>, string[], RegExp]>([
    ['no agent address', 'execute-worker', {}, [], /^execute worker: LATCHKEY_AGENT_ADDRESS .*is not set/],
    [
      'a wrong agent address',
      'execute-worker',
      { LATCHKEY_AGENT_ADDRESS: 'nonsense' },
      [],
      /LATCHKEY_AGENT_ADDRESS .*"nonsense".*unix:/,
    ],
    [
      'a wrong number',
      'execute-worker',
      { LATCHKEY_AGENT_ADDRESS: NOWHERE, LATCHKEY_EXECUTE_SLOTS: '-1' },
      [],
      /LATCHKEY_EXECUTE_SLOTS .*"-1".*positive whole number/,
    ],
    ['no store', 'turn-worker', {}, [], /^turn worker: LATCHKEY_STORE .*is not set/],
    [
      'a namespace that Temporal does not have',
      'turn-worker',
      { LATCHKEY_STORE: ':memory:', TEMPORAL_NAMESPACE: 'not-there' },
      [],
      /not-there/,
    ],
    [
      'a workflow bundle that is not there',
      'turn-worker',
      { LATCHKEY_STORE: ':memory:', LATCHKEY_WORKFLOW_BUNDLE: '/nowhere/bundle.js' },
      [],
      /\/nowhere\/bundle\.js/,
    ],
    ['a store of another kind', 'turn-worker', { LATCHKEY_STORE: 'redis://x' }, [], /redis:\/\/x/],
    ['an unknown flag', 'turn-worker', { LATCHKEY_STORE: ':memory:' }, ['--stoer', 'x'], /--stoer.*Known: .*--store/],
  ])('says what is wrong in one line and ends with 1: %s', async ([, name, env, args, text]) => {
    const worker = WorkerProcess.spawn(name, { env, args });
    await worker.ended();
    expect(worker.child.exitCode).toBe(1);
    expectOneLine(worker, text);
  });

  test('says that Temporal is not there, where it looked, and ends with 1', async () => {
    const address = await freeAddress();
    const env = { TEMPORAL_ADDRESS: address, LATCHKEY_STORE: join(makeFolder(), 'store.db') };
    const worker = WorkerProcess.spawn('turn-worker', { env });
    await worker.ended();
    expect(worker.child.exitCode).toBe(1);
    expectOneLine(worker, new RegExp(address));
  });

  test('waits for its agent, says so in one line, and ends at SIGINT', async () => {
    const env = { LATCHKEY_AGENT_ADDRESS: `unix:${join(makeFolder(), 'agent.sock')}` };
    const worker = WorkerProcess.spawn('execute-worker', { env });
    await waitUntil('it says that it waits', () => worker.errors.includes('\n'), { describe: () => worker.log });
    expectOneLine(worker, /^execute worker: waiting for the agent: .*no such socket/);
    worker.signal('SIGINT');
    await worker.ended();
    expect(worker.child.exitCode).toBe(0);
  });
});

test('C6: at SIGINT both programs end in time and without a word, and the command goes on and is attached to', async () => {
  const whole = await Whole.open();
  const workers = [whole.worker('execute-worker'), whole.worker('turn-worker')];
  const turn = await whole.startTurn([
    commands({ long: logged(whole.folder, 'long', 'echo on; sleep 6; exit 3') }),
    DONE,
  ]);
  await turn.running('long', 'on');
  for (const worker of workers) worker.signal('SIGINT');
  await Promise.all(workers.map((worker) => worker.ended()));
  expect(workers.map(({ child }) => child.exitCode)).toEqual([0, 0]);
  // Nothing that they started is left either: it would have their settings in its environment.
  for (const setting of [whole.proxy.address, whole.storeUrl]) expect(findMarked(setting)).toEqual([]);
  expect((await turn.call('long')).status).toBe('reserved');
  await Promise.all([whole.startExecuteWorker(), whole.startTurnWorker()]);
  expect(await turn.result()).toMatchObject({ state: 'completed' });
  expect(await turn.call('long')).toMatchObject({ status: 'exited', exitCode: 3 });
  expect(countRuns(whole.folder, 'long')).toBe(1);
});
