import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { stateHome } from '../../../client/default-state.ts';
import { findProcess, isRunning, ourIdentity, signalProcess } from '../../../client/dev/process-identity.ts';
import { openStageFolder } from '../../../client/dev/stage-folder.ts';
import type { StageFolder } from '../../../client/dev/stage-folder.ts';
import { lockStage } from '../../../client/dev/stage-lock.ts';
import { digestEnvironment, readStageSettings, startsNothing } from '../../../client/dev/stage-settings.ts';
import { writeRecord } from '../../../client/dev/stage-record.ts';
import { stopStage } from '../../../client/dev/stop-stage.ts';
import { beginUse, isUsed } from '../../../client/dev/stage-users.ts';
import { modelOfChat, requireModelName } from '../../../client/run/model-name.ts';

function makeFolder(): StageFolder {
  const root = mkdtempSync(join(tmpdir(), 'latchkey-stage-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const workspace = join(root, 'workspace');
  mkdirSync(workspace);
  return openStageFolder(workspace, { XDG_STATE_HOME: join(root, 'state') });
}

async function spawnAndKill(): Promise<number> {
  const child = spawn('sleep', ['100']);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return child.pid ?? 0;
}

test('a state folder that can not be made, as under /proc, is a clear refusal', () => {
  expect(() => openStageFolder(tmpdir(), { XDG_STATE_HOME: '/proc/latchkey' })).toThrow(
    /the state folder can't be made: .*Set XDG_STATE_HOME/,
  );
});

test('the stage and its agent take a relative XDG_STATE_HOME as none, as its specification says', () => {
  const home = mkdtempSync(join(tmpdir(), 'latchkey-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  expect([stateHome({ XDG_STATE_HOME: home }), stateHome({ XDG_STATE_HOME: 'state' })]).toEqual([home, stateHome({})]);
});

const nobodyRuns = async (): Promise<boolean> => false;

describe('a recorded process', () => {
  test('is itself, and no other with its pid', () => {
    const us = ourIdentity();
    expect(isRunning(us)).toBe(true);
    expect(isRunning({ ...us, startTimeTicks: us.startTimeTicks - 1 })).toBe(false);
    expect(isRunning({ ...us, bootId: 'another boot' })).toBe(false);
  });

  test('A2: a pid that is used again gets no signal', async () => {
    const child = spawn('sleep', ['100']);
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'spawn');
    const identity = findProcess(child.pid ?? 0);
    if (identity === undefined) throw new Error('the child is not there');
    expect(signalProcess({ ...identity, startTimeTicks: identity.startTimeTicks - 1 }, 'SIGKILL')).toBe(false);
    expect(isRunning(identity)).toBe(true);
    expect(signalProcess(identity, 'SIGKILL')).toBe(true);
  });

  test('that has ended is nobody', async () => {
    expect(findProcess(await spawnAndKill())).toBeUndefined();
  });
});

describe('the users of a stage', () => {
  test('count while their process lives, until they end', async () => {
    const folder = makeFolder();
    const use = beginUse(folder);
    expect(await isUsed(folder, nobodyRuns)).toBe(true);
    use.end();
    expect(await isUsed(folder, nobodyRuns)).toBe(false);
  });

  test('count for as long as their turn runs when their process has gone, and are then forgotten', async () => {
    const folder = makeFolder();
    const process = { ...ourIdentity(), pid: await spawnAndKill() };
    writeFileSync(join(folder.users, 'gone.json'), JSON.stringify({ process, workflowId: 'turn/chat-1/1' }));
    const asked: string[] = [];
    const isOpen = async (id: string): Promise<boolean> => asked.push(id) === 1;
    expect(await isUsed(folder, isOpen)).toBe(true);
    expect(await isUsed(folder, isOpen)).toBe(false);
    expect(asked).toEqual(['turn/chat-1/1', 'turn/chat-1/1']);
    expect(readdirSync(folder.users)).toEqual([]);
  });

  test('are there in spite of a file that is not theirs', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder.users, 'broken.json'), '{');
    expect(await isUsed(folder, nobodyRuns)).toBe(false);
  });
});

test('what a killed supervisor has left is ended once; after that nothing runs, whatever its record names', async () => {
  const folder = makeFolder();
  const piece = spawn('sleep', ['100']);
  onTestFinished(() => void piece.kill('SIGKILL'));
  await once(piece, 'spawn');
  const identity = findProcess(piece.pid ?? 0);
  if (identity === undefined) throw new Error('the piece is not there');
  writeRecord(folder, {
    v: 1,
    supervisor: { ...ourIdentity(), pid: await spawnAndKill() },
    state: 'ready',
    startedAt: new Date().toISOString(),
    endsWhenUnused: false,
    pieces: [{ name: 'agent', process: identity, isOurs: true }],
    environmentDigest: '',
  });
  expect(await stopStage(folder, () => undefined)).toBe('ended what a killed supervisor had left');
  expect(isRunning(identity)).toBe(false);
  expect(await stopStage(folder, () => undefined)).toBeUndefined();
});

test('a stage has one lock', () => {
  const folder = makeFolder();
  const lock = lockStage(folder.lock);
  expect(lock).toBeDefined();
  expect(lockStage(folder.lock)).toBeUndefined();
  lock?.release();
  const again = lockStage(folder.lock);
  expect(again).toBeDefined();
  again?.release();
});

describe('what is started', () => {
  const ADDRESS = { TEMPORAL_ADDRESS: 'temporal.example:7233' };
  const AGENT = { LATCHKEY_AGENT_ADDRESS: 'unix:/run/agent.sock' };
  const STORE = { LATCHKEY_STORE: 'sqlite:/srv/store.db' };
  const all = { ownsServer: true, ownsAgent: true, ownsExecuteWorker: true, ownsTurnWorker: true };

  test.each([
    ['nothing', {}, all],
    ['a server', ADDRESS, { ...all, ownsServer: false }],
    ['an agent', AGENT, { ...all, ownsAgent: false }],
    ['a store', STORE, all],
    [
      'server and agent',
      { ...ADDRESS, ...AGENT },
      { ...all, ownsServer: false, ownsAgent: false, ownsExecuteWorker: false },
    ],
    ['server and store', { ...ADDRESS, ...STORE }, { ...all, ownsServer: false, ownsTurnWorker: false }],
  ])('follows from what is configured: %s', (_, env, expected) => {
    expect(readStageSettings(makeFolder(), env)).toMatchObject(expected);
  });

  test('is nothing when everything is named', () => {
    const settings = readStageSettings(makeFolder(), { ...ADDRESS, ...AGENT, ...STORE });
    expect(startsNothing(settings)).toBe(true);
    expect(settings.turnQueue).toBe('latchkey-turns');
  });

  test('has a turn queue of its own, so that a shared server gives it no one else’s turns', () => {
    const [one, other] = [makeFolder(), makeFolder()];
    expect(readStageSettings(one, ADDRESS).turnQueue).not.toBe(readStageSettings(other, ADDRESS).turnQueue);
  });

  test('is told apart by keys and addresses, without showing them', () => {
    const folder = makeFolder();
    const digest = digestEnvironment(folder, { OPENAI_API_KEY: 'secret', HOME: '/a' });
    expect(digest).toBe(digestEnvironment(folder, { HOME: '/b', OPENAI_API_KEY: 'secret' }));
    expect(digest).not.toBe(digestEnvironment(folder, { OPENAI_API_KEY: 'other' }));
    expect(digest).not.toContain('secret');
  });
});

describe('the model', () => {
  test('is the flag’s, else the variable’s, else one error with examples', () => {
    expect(requireModelName('openai/a', { LATCHKEY_MODEL: 'openai/b' })).toBe('openai/a');
    expect(requireModelName(undefined, { LATCHKEY_MODEL: 'openai/b' })).toBe('openai/b');
    expect(() => requireModelName(undefined, {})).toThrow(/no model is configured.*\n.*anthropic\//);
  });

  test('of a chat is the flag’s, else its own, and the variable’s only where it has none', () => {
    const env = { LATCHKEY_MODEL: 'openai/b' };
    expect(modelOfChat('openai/a', { model: 'openai/c' }, env)).toBe('openai/a');
    expect(modelOfChat(undefined, { model: 'openai/c' }, env)).toBe('openai/c');
    expect(modelOfChat(undefined, { model: 'openai/c' }, {})).toBe('openai/c');
    expect([modelOfChat(undefined, {}, env), modelOfChat(undefined, undefined, env)]).toEqual(['openai/b', 'openai/b']);
    expect(() => modelOfChat(undefined, undefined, {})).toThrow(/no model is configured/);
  });

  test('that is a script is named by its whole path, and must be there', () => {
    expect(requireModelName('scripted:package.json', {})).toBe(`scripted:${join(process.cwd(), 'package.json')}`);
    expect(() => requireModelName('scripted:./nowhere.json', {})).toThrow(/nowhere\.json .* can't be read/);
  });
});
