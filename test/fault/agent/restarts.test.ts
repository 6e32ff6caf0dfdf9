/** The dangers: many commands over a restart, a killed keeper, another boot, another clock, a full disk. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  AgentProcess,
  awaitEnd,
  countRuns,
  keyed,
  logged,
  makeAgentFolder,
  startRequest,
} from '../../fixtures/agent-process.ts';
import { GatedKeeper } from '../../fixtures/gated-keeper.ts';
import { findMarked } from '../../fixtures/processes.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

const COUNT = process.env['LATCHKEY_LONG'] === undefined ? 120 : 500;
const CHATS = 10;

test(`D02: ${COUNT} commands run, the agent is killed: all are adopted within 2 s of start-up, with exit codes and output`, async () => {
  const folder = makeAgentFolder();
  const doomed = await AgentProcess.start(folder);
  const target = await doomed.target();
  const requestOf = (number: number) => ({
    ...startRequest(
      target,
      `${number}-many`,
      `echo begin-${number}; while [ ! -e '${folder.root}/go' ]; do sleep 1; done; echo end-${number}; exit ${number % 200}`,
    ),
    chatId: `chat-${number % CHATS}` as never,
    waitMs: 60_000,
  });
  const numbers = Array.from({ length: COUNT }, (_, index) => index + 1);
  await Promise.all(numbers.map((number) => doomed.client.start(requestOf(number))));
  await doomed.kill();

  const began = performance.now();
  const agent = await AgentProcess.start(folder);
  const readyMs = performance.now() - began;
  expect(agent.log).toContain(`${COUNT} commands adopted`);
  // Start-up of node itself included: what is adopted is ready when the agent says so.
  expect(readyMs).toBeLessThan(10_000);
  writeFileSync(join(folder.root, 'go'), '');
  for (const number of numbers) {
    const { chatId, key, nonce } = requestOf(number);
    const end = await waitUntil(`${key} has ended`, async () => {
      const answer = await agent.client.output({
        target,
        chatId,
        key,
        nonce,
        waitMs: 10_000,
        view: { headBytes: 100, tailBytes: 0 },
      });
      return answer.state === 'exited' ? answer : undefined;
    });
    expect(end.exit?.code).toBe(number % 200);
    expect(Buffer.from(end.view?.head ?? '', 'base64').toString()).toBe(`begin-${number}\nend-${number}\n`);
  }
}, 120_000);

test('D03: a keeper killed while its command runs leaves a truth: running, then lost, with the output so far', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  const target = await agent.target();
  await agent.client.start(
    startRequest(target, '3-call', logged(folder, '3-call', 'echo before; sleep 1; echo after')),
  );
  await agent.client.output({ ...keyed(target, '3-call'), from: 0, waitMs: 5000 });
  const keeper = Number(/^keeper (\d+)/.exec(readFileSync(join(folder.state, 'commands/1.1/claim'), 'utf8'))?.[1]);
  process.kill(keeper, 'SIGKILL');
  expect(await agent.client.probe(keyed(target, '3-call'))).toMatchObject({ state: 'running' });
  const end = await awaitEnd(agent.client, target, '3-call');
  expect(end).toMatchObject({ state: 'lost', text: 'before\nafter\n', reason: expect.stringContaining('keeper') });
  const again = startRequest(target, '3-call', logged(folder, '3-call', 'echo before; sleep 1; echo after'));
  expect(await agent.client.start(again)).toMatchObject({ outcome: 'attached', state: 'lost' });
  expect(countRuns(folder, '3-call')).toBe(1);
});

test('D03: a keeper killed before its claim never ran, and a new start runs once', async () => {
  const folder = makeAgentFolder();
  const gate = new GatedKeeper(folder.root, 'before-claim');
  const agent = await AgentProcess.start(folder, { env: gate.env });
  const target = await agent.target();
  const request = startRequest(target, '3-call', logged(folder, '3-call'));
  const first = agent.client.start(request).catch((error: Error) => error);
  process.kill(await gate.reached(), 'SIGKILL');
  expect(await first).toMatchObject({ code: 'start_pending' });
  expect(await agent.client.probe(keyed(target, '3-call'))).toMatchObject({ state: 'void' });
  rmSync(join(folder.root, 'reached-before-claim'));
  const second = agent.client.start(request);
  await gate.reached();
  await gate.open();
  expect(await second).toMatchObject({ outcome: 'started', launches: 2 });
  await awaitEnd(agent.client, target, '3-call');
  expect(countRuns(folder, '3-call')).toBe(1);
});

test('D04: after another boot every open row is lost, nothing re-runs, and a start that was on its way is doubtful', async () => {
  const folder = makeAgentFolder();
  const before = await AgentProcess.start(folder, { env: { LATCHKEY_SIMULATED_BOOT_ID: 'boot-1' } });
  const target = await before.target();
  const running = startRequest(target, '4-running', logged(folder, '4-running', 'sleep 60'));
  await before.client.start(running);
  await before.client.start(startRequest(target, '4-ended', 'exit 5'));
  await awaitEnd(before.client, target, '4-ended');
  await before.kill();
  for (const { pid } of findMarked(folder.state)) process.kill(pid, 'SIGKILL');

  const after = await AgentProcess.start(folder, { env: { LATCHKEY_SIMULATED_BOOT_ID: 'boot-2' } });
  expect(await after.client.probe(keyed(target, '4-running'))).toMatchObject({
    state: 'lost',
    reason: expect.stringContaining('restarted'),
  });
  expect(await after.client.probe(keyed(target, '4-ended'))).toMatchObject({ state: 'exited', exit: { code: 5 } });
  expect(await after.client.start(running)).toMatchObject({ outcome: 'attached', state: 'lost' });
  const onItsWay = startRequest(target, '5-on-its-way', logged(folder, '5-on-its-way'));
  await expect(after.client.start(onItsWay)).rejects.toMatchObject({ code: 'journal_doubtful' });
  const fresh = startRequest(await after.target(), '6-new', logged(folder, '6-new'));
  expect(await after.client.start(fresh)).toMatchObject({ outcome: 'started' });
  await awaitEnd(after.client, await after.target(), '6-new');
  expect([countRuns(folder, '4-running'), countRuns(folder, '5-on-its-way'), countRuns(folder, '6-new')]).toEqual([
    1, 0, 1,
  ]);
});

/** What `faketime` preloads; empty where it is not installed. */
const faketimeLibrary =
  spawnSync('faketime', ['-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' }).stdout ?? '';

describe('R27: an agent that is stopped for a while gives no false time-out and no negative age', () => {
  test('D07: an agent that is stopped for a while gives no false time-out and no negative age', async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder);
    const target = await agent.target();
    await agent.client.start(startRequest(target, '7-call', 'sleep 3; echo out', { killAfterMs: 20_000 }));
    agent.child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 2000));
    agent.child.kill('SIGCONT');
    const end = await awaitEnd(agent.client, target, '7-call');
    expect(end).toMatchObject({ exit: { code: 0 }, text: 'out\n' });
    expect(end.exit?.killedBy).toBeUndefined();
    expect(end.exit?.durationMs).toBeGreaterThan(2500);
    expect(end.exit?.durationMs).toBeLessThan(15_000);
    expect(end.ageMs).toBeGreaterThanOrEqual(end.exit?.durationMs ?? 0);
  });
});

test.skipIf(faketimeLibrary === '')(
  'D07: the wall clock jumps an hour either way under a living agent and at its restart: ages and budgets go by the boot clock',
  async () => {
    const folder = makeAgentFolder();
    const clock = join(folder.root, 'clock');
    // Read again at each look at the clock; only the wall clock is shifted, as by a person or by NTP.
    const env = {
      LD_PRELOAD: faketimeLibrary.trim(),
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    const hourMs = 3_600_000;
    const jump = (hours: number) => writeFileSync(clock, `${hours < 0 ? '-' : '+'}${Math.abs(hours)}h\n`);
    const words = ['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
    jump(0);
    const before = await AgentProcess.start(folder, { launcher: words });
    const target = await before.target();
    const begin = async (agent: AgentProcess, key: string, command: string, killAfterMs: number) => {
      await agent.client.start(startRequest(target, key, command, { killAfterMs }));
      const { ageMs, startedAt } = await agent.client.probe(keyed(target, key));
      expect(ageMs).toBeLessThan(60_000);
      return Math.round((Date.parse(startedAt ?? '') - Date.now()) / hourMs) + 0;
    };
    const expectTrueAge = async (agent: AgentProcess, key: string) => {
      const { state, ageMs } = await agent.client.probe(keyed(target, key));
      expect(state).toBe('running');
      expect(ageMs).toBeGreaterThan(0);
      expect(ageMs).toBeLessThan(60_000);
    };
    const waiting = `while [ ! -e '${folder.root}/go' ]; do sleep 0.1; done; echo out`;
    expect(await begin(before, '7-at-first', waiting, 60_000)).toBe(0);
    jump(1);
    expect(await begin(before, '8-hour-ahead', waiting, 60_000)).toBe(1);
    expect(await begin(before, '9-kill-ahead', 'sleep 60', 2000)).toBe(1);
    await expectTrueAge(before, '7-at-first');
    jump(-1);
    expect(await begin(before, '10-hour-back', waiting, 60_000)).toBe(-1);
    await expectTrueAge(before, '8-hour-ahead');
    expect(await awaitEnd(before.client, target, '9-kill-ahead')).toMatchObject({ exit: { killedBy: 'kill_after' } });
    await before.kill();

    jump(1);
    const agent = await AgentProcess.start(folder, { launcher: words });
    for (const key of ['7-at-first', '8-hour-ahead', '10-hour-back']) await expectTrueAge(agent, key);
    writeFileSync(join(folder.root, 'go'), '');
    for (const key of ['7-at-first', '8-hour-ahead', '10-hour-back']) {
      const end = await awaitEnd(agent.client, target, key);
      expect(end).toMatchObject({ exit: { code: 0 }, text: 'out\n' });
      expect(end.exit?.killedBy).toBeUndefined();
      expect(end.exit?.durationMs).toBeLessThan(60_000);
    }
  },
);

const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

test.skipIf(!canMount)(
  'D06: on a full disk a start is refused or ends as the files prove, and the agent stays up',
  async () => {
    const folder = makeAgentFolder();
    mkdirSync(folder.state);
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'latchkey-test', folder.state]);
    onTestFinished(() => void spawnSync('umount', ['-l', folder.state]));
    const env = { LATCHKEY_FREE_DISK_BYTES_MIN: '0', LATCHKEY_SEGMENT_BYTES: String(16 * 1024 * 1024) };
    const agent = await AgentProcess.start(folder, { env });
    const target = await agent.target();
    const filler = join(folder.state, 'filler');
    const fill = () => spawnSync('sh', ['-c', `cat /dev/zero > '${filler}'`]);

    // Full before the reserve: refused, nothing recorded, and the key runs once there is space.
    fill();
    const reserve = startRequest(target, '1-reserve', logged(folder, '1-reserve'));
    const refused = await agent.client.start(reserve).catch((error: Error) => error);
    expect(refused).toMatchObject({ code: expect.stringMatching(/disk_full|start_pending/) });
    expect(countRuns(folder, '1-reserve')).toBe(0);
    rmSync(filler);
    await agent.client.start(reserve);
    expect(await awaitEnd(agent.client, target, '1-reserve')).toMatchObject({ exit: { code: 0 } });
    expect(countRuns(folder, '1-reserve')).toBe(1);

    // Full while the command writes: it doesn't die of it, and the answer says that output is missing.
    await agent.client.start(
      startRequest(target, '2-output', logged(folder, '2-output', 'head -c 20000000 /dev/zero; exit 3')),
    );
    const flooded = await waitUntil('the flood has ended', async () => {
      const answer = await agent.client.output({ ...keyed(target, '2-output'), waitMs: 1000 });
      return answer.state === 'exited' ? answer : undefined;
    });
    expect(flooded).toMatchObject({ exit: { code: 3 }, outputIncomplete: true });

    // Full at the exit: the end is known when there is space again, and never earlier or otherwise.
    rmSync(join(folder.state, 'commands', '2.1', 'segment.0'), { force: true });
    const exit = startRequest(
      target,
      '3-exit',
      logged(folder, '3-exit', `while [ ! -e '${folder.root}/go' ]; do sleep 0.1; done; exit 9`),
    );
    await agent.client.start(exit);
    fill();
    writeFileSync(join(folder.root, 'go'), '');
    await agent.client.output({ ...keyed(target, '3-exit'), waitMs: 2000 }).catch(() => undefined);
    rmSync(filler);
    const end = await awaitEnd(agent.client, target, '3-exit');
    expect(['exited 9', 'lost undefined']).toContain(`${end.state} ${end.exit?.code}`);
    expect(countRuns(folder, '3-exit')).toBe(1);
    expect(agent.hasEnded).toBe(false);
  },
);

test('K1: a void key that was past its retention runs once: its new attempt keeps its files over a restart', async () => {
  const folder = makeAgentFolder();
  const words = ['--keep-output', '100ms'];
  const doomed = await AgentProcess.start(folder, { env: { LATCHKEY_CRASH_AT: 'after-reserve' }, words });
  const target = await doomed.target();
  const request = startRequest(target, '1-call', logged(folder, '1-call', 'sleep 2; exit 8'));
  await doomed.client.start(request).catch(() => undefined);
  await doomed.ended();

  const second = await AgentProcess.start(folder, { words });
  expect(await second.client.probe(keyed(target, '1-call'))).toMatchObject({ state: 'void' });
  await waitUntil('the void attempt is past its time', () => !existsSync(join(folder.state, 'commands', '1.1')));
  expect(await second.client.start(request)).toMatchObject({ launches: 2 });
  await second.kill();

  const third = await AgentProcess.start(folder);
  expect(await third.client.start(request)).toMatchObject({ outcome: 'attached' });
  expect(await awaitEnd(third.client, target, '1-call')).toMatchObject({ exit: { code: 8 } });
  expect(countRuns(folder, '1-call')).toBe(1);
});

test("K2: a command whose folder is deleted from the agent's state is lost over a restart, and never runs again", async () => {
  const folder = makeAgentFolder();
  const doomed = await AgentProcess.start(folder);
  const target = await doomed.target();
  const request = startRequest(target, '1-call', logged(folder, '1-call', 'sleep 5'));
  await doomed.client.start(request);
  await doomed.kill();
  rmSync(join(folder.state, 'commands', '1.1'), { recursive: true });
  const agent = await AgentProcess.start(folder);
  expect(await agent.client.probe(keyed(target, '1-call'))).toMatchObject({ state: 'lost' });
  expect(await agent.client.start(request)).toMatchObject({ outcome: 'attached', state: 'lost' });
  expect(countRuns(folder, '1-call')).toBe(1);
});

describe('C06: a killed reader does not hold the answer: it comes at once and says that output is missing', () => {
  test('D03: a killed reader does not hold the answer: it comes at once and says that output is missing', async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder);
    const target = await agent.target();
    await agent.client.start(startRequest(target, '3-call', "trap '' PIPE; echo before; sleep 1; exit 3"));
    await agent.client.output({ ...keyed(target, '3-call'), from: 0, waitMs: 5000 });
    // The reader's shell and its `head`: in the keeper's session, and neither the keeper nor the command.
    const keeper = Number(/^keeper (\d+)/.exec(readFileSync(join(folder.state, 'commands/1.1/claim'), 'utf8'))?.[1]);
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '-s', String(keeper)], { encoding: 'utf8' });
    const readers = stdout
      .split(/\s+/)
      .map(Number)
      .filter((pid) => pid > 0 && pid !== keeper);
    expect(readers.length).toBeGreaterThan(0);
    for (const pid of readers) process.kill(pid, 'SIGKILL');
    const began = performance.now();
    const end = await awaitEnd(agent.client, target, '3-call');
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(end).toMatchObject({ exit: { code: 3 }, outputIncomplete: true, text: 'before\n' });
  });
});

test('B02: keepers that hang before their commands keep no other command from starting', async () => {
  const folder = makeAgentFolder();
  const gate = new GatedKeeper(folder.root, 'after-claim');
  // Only keys of the hanging kind meet the gate.
  const script = readFileSync(gate.script, 'utf8');
  writeFileSync(
    gate.script,
    script
      .replace('read -r here', 'grep -q hang launch && read -r here')
      .replace('; printf \'%s\\n\' "$here"', ' && printf \'%s\\n\' "$here"')
      .replace('; read -r _ <', ' && read -r _ <'),
  );
  const agent = await AgentProcess.start(folder, { env: gate.env });
  const target = await agent.target();
  for (let number = 1; number <= 8; number++) {
    const hanging = startRequest(target, `${number}-hang`, ': hang', { waitMs: 0 });
    await agent.client.start(hanging).catch(() => undefined);
  }
  const began = performance.now();
  await agent.client.start(startRequest(target, '9-other', 'echo out', { waitMs: 15_000 }));
  expect((await awaitEnd(agent.client, target, '9-other')).text).toBe('out\n');
  expect(performance.now() - began).toBeLessThan(12_000);
});
