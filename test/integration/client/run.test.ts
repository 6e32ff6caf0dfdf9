import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LatchkeyFolder, PATIENCE_MS } from './latchkey-folder.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

describe('latchkey run', { timeout: 2 * PATIENCE_MS }, () => {
  test('without any configuration starts what it needs, shows the turn, and leaves nothing running', async () => {
    const folder = new LatchkeyFolder({ ownServer: true });
    const run = folder.latchkey(['run', '--model', folder.script('echo one; exit 3'), 'Look around']);
    expect(await run.ended()).toBe(0);
    expect(run.stdout).toBe('I look.\nAll is well.\n');
    expect(run.stderr).toMatch(/✗ \$ echo one; exit 3 · exit 3 · \d+\.\d s · 2-a\n {4}one\n/);
    expect(run.stderr).toMatch(/done · 1 call · .* · chat run-[0-9a-f]{8}\n$/);
    expect(folder.running).toEqual([]);
    // The state persists: what was said is there without anything running.
    const again = folder.latchkey(['run', '--attach']);
    expect(await again.ended()).toBe(0);
    expect(again.stderr).toContain('> Look around');
    expect(again.stdout).toBe('I look.\nAll is well.\n');
  });

  test('A1: Ctrl-C leaves; the turn goes on, --attach watches it to its end, and then nothing runs', async () => {
    const folder = new LatchkeyFolder();
    const run = folder.latchkey(['run', '--model', folder.gatedScript(), 'Wait']);
    await waitUntil('the command runs', () => folder.countRuns() === 1, {
      deadlineMs: PATIENCE_MS,
      describe: () => run.stderr,
    });
    run.child.kill('SIGINT');
    expect(await run.ended()).toBe(130);
    expect(run.stderr).toMatch(/left; the turn goes on\. Watch it: latchkey run --attach run-[0-9a-f]{8}/);
    expect(folder.liveRecord?.state).toBe('ready');

    const listed = folder.latchkey(['calls', '--json']);
    expect(await listed.ended()).toBe(0);
    expect(listed.json).toMatchObject([{ calls: [{ key: '2-a', status: 'running', attempt: 1 }], notes: [] }]);

    const watcher = folder.latchkey(['run', '--attach', '--json']);
    await watcher.said(/"lastLine":"waiting"/);
    folder.openGate();
    expect(await watcher.ended()).toBe(0);
    expect(watcher.json.at(-1)).toMatchObject({ type: 'end', state: 'completed', exitCode: 0 });
    expect(folder.countRuns()).toBe(1);
    expect(folder.running).toEqual([]);
  });

  test('a turn whose watcher left ends by itself, and its pieces with it', async () => {
    const folder = new LatchkeyFolder();
    const run = folder.latchkey(['run', '--model', folder.gatedScript(), 'Wait']);
    await waitUntil('the command runs', () => folder.countRuns() === 1, { deadlineMs: PATIENCE_MS });
    run.child.kill('SIGKILL');
    folder.openGate();
    await waitUntil('nothing runs', () => folder.running.length === 0, {
      deadlineMs: PATIENCE_MS,
      describe: () => folder.running,
    });
    const shown = folder.latchkey(['run', '--attach']);
    expect(await shown.ended()).toBe(0);
    expect(shown.stdout).toContain('All is well.');
  });

  test('A1, K1: supervisor and watcher killed: the next watcher starts the pieces again, and the command runs once', async () => {
    const folder = new LatchkeyFolder();
    const run = folder.latchkey(['run', '--model', folder.gatedScript(), 'Wait']);
    await waitUntil('the command runs', () => folder.countRuns() === 1, { deadlineMs: PATIENCE_MS });
    const before = folder.liveRecord;
    run.child.kill('SIGKILL');
    process.kill(before?.supervisor.pid ?? 0, 'SIGKILL');
    const watcher = folder.latchkey(['run', '--attach']);
    await watcher.said(/was left running \(pid \d+\); ending it/);
    await waitUntil('the pieces run again', () => folder.liveRecord?.state === 'ready', { deadlineMs: PATIENCE_MS });
    folder.openGate();
    expect(await watcher.ended()).toBe(0);
    expect(watcher.stderr).toMatch(/✓ .* exit 0/);
    expect(folder.countRuns()).toBe(1);
    expect(folder.running).toEqual([]);
  });

  test('two at once share one stage', async () => {
    const folder = new LatchkeyFolder();
    const model = folder.script('echo one');
    const runs = [1, 2].map((number) => folder.latchkey(['run', '--model', model, '--json', `Look ${number}`]));
    expect(await Promise.all(runs.map((run) => run.ended()))).toEqual([0, 0]);
    const [one, other] = runs.map((run) => run.json[0]);
    expect(one?.['chatId']).not.toBe(other?.['chatId']);
    expect(folder.running).toEqual([]);
  });

  test('an interrupted turn ends, its command is killed, and the exit code says so', async () => {
    const folder = new LatchkeyFolder();
    const run = folder.latchkey(['run', '--model', folder.gatedScript(), 'Wait']);
    await waitUntil('the command runs', () => folder.countRuns() === 1, { deadlineMs: PATIENCE_MS });
    const interrupt = folder.latchkey(['run', '--interrupt', '--json']);
    expect(await interrupt.ended()).toBe(1);
    expect(interrupt.json.at(-1)).toMatchObject({ type: 'end', state: 'interrupted', exitCode: 1 });
    expect(await run.ended()).toBe(1);
    expect(run.stderr).toMatch(/✗ .* canceled, exit 143/);
    expect(folder.running).toEqual([]);
  });

  test('a failed turn says why, with exit code 1', async () => {
    const folder = new LatchkeyFolder();
    const run = folder.latchkey(['run', '--model', 'nobody/nothing', 'Look']);
    expect(await run.ended()).toBe(1);
    expect(run.stderr).toMatch(/failed · 0 calls .*\nconfiguration: model "nobody\/nothing" is not known/);
    expect(folder.running).toEqual([]);
  });
});

test('latchkey --version tells the version of the package', async () => {
  const said = new LatchkeyFolder().latchkey(['--version']);
  expect(await said.ended()).toBe(0);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(said.stdout).toBe(`${version}\n`);
});

describe('what is wrong', { timeout: PATIENCE_MS }, () => {
  test.each([
    [['run', 'hello'], {}, /no model is configured/],
    [['run', '--model', 'scripted:nowhere.json', 'hello'], {}, /nowhere\.json .* can't be read/],
    [['run', '--attach'], {}, /no turn was started in .* yet/],
    [['run', '--workspace', '/nowhere', 'hello'], {}, /the workspace \/nowhere is not a folder/],
    [['calls'], {}, /nothing was run in .* yet/],
    [['call', 'show', '2-a'], {}, /nothing was run in .* yet/],
    [['run', '--bogus'], {}, /unknown option '--bogus'/],
    [['dev'], { TEMPORAL_ADDRESS: '127.0.0.1:1' }, /No Temporal server answers at 127\.0\.0\.1:1/],
  ])('is one clear error of latchkey %j, and leaves nothing running', async (words, env, message) => {
    const folder = new LatchkeyFolder();
    const run = folder.latchkey(words, env);
    expect(await run.ended()).toBe(125);
    expect(run.stderr).toMatch(message);
    expect(run.stderr).not.toMatch(/^\s+at /m);
    expect(folder.running).toEqual([]);
  });
});
