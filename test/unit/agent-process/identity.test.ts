import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { isAlive, isSameProcess, parseStat, readIdentity } from '../../../agent/process/identity.ts';
import { listProcesses, sessionHasLiving } from '../../../agent/process/list-processes.ts';
import { CommandTree, until } from './command-tree.ts';

describe('an identity', () => {
  test('is parsed from the last parenthesis, whatever a process calls itself', () => {
    const line = '42 (a) R (b\n) S 7 8 9 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 3 0 123456 1 2';
    expect(parseStat(line)).toEqual({
      pid: 42,
      name: 'a) R (b\n',
      state: 'S',
      parent: 7,
      group: 8,
      session: 9,
      threads: 3,
      startTimeTicks: 123456,
    });
  });

  test('is undefined for a cut line and for a pid that nobody has', () => {
    expect(parseStat('')).toBeUndefined();
    expect(parseStat('42 (cut) S 1 2')).toBeUndefined();
    expect(readIdentity(2 ** 22 + 1)).toBeUndefined();
  });

  test('is not that of another start time', () => {
    const own = readIdentity(process.pid);
    if (own === undefined) throw new Error('this process is not in /proc');
    expect(own.parent).toBe(process.ppid);
    expect(isSameProcess(own)).toBe(true);
    expect(isSameProcess({ ...own, startTimeTicks: own.startTimeTicks + 1 })).toBe(false);
  });

  test('of a zombie counts as gone', async () => {
    // The outer shell becomes a sleep that never looks after its child.
    await using tree = await CommandTree.start(`mkfifo gate
      bash -c 'echo "$$ ." > pid.child; read -r line < gate' &
      note leader; exec sleep 300`);
    const child = await tree.noted('child');
    expect(isSameProcess(child)).toBe(true);
    process.kill(child.pid, 'SIGKILL');
    await until('the child is a zombie', () => readIdentity(child.pid)?.state === 'Z');
    expect(isSameProcess(child)).toBe(false);
  });

  test('of a process whose first thread has ended counts as alive', () => {
    const line = '42 (x) Z 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 123456 1 2';
    const identity = parseStat(line);
    expect(identity !== undefined && isAlive(identity)).toBe(true);
  });
});

describe('the list of processes', () => {
  test('holds us and a child', async () => {
    await using tree = await CommandTree.start('note leader; exec sleep 300');
    const pids = (await listProcesses()).map(({ pid }) => pid);
    expect(pids).toEqual(expect.arrayContaining([process.pid, tree.leader.pid]));
  });

  test('tells whether a session has anybody left, also when its leader has ended', async () => {
    await using tree = await CommandTree.start(`bash -c 'echo "$$ ." > pid.left; exec sleep 300' &
      while ! [ -s pid.left ]; do sleep 0.02; done`);
    const left = await tree.noted('left');
    await until('the leader has ended', () => readIdentity(tree.leader.pid) === undefined);
    expect(await sessionHasLiving(tree.leader.session)).toBe(true);
    process.kill(left.pid, 'SIGKILL');
    await until('the rest has ended', () => !isSameProcess(left));
    expect(await sessionHasLiving(tree.leader.session)).toBe(false);
  });

  test('leaves out a child that was reaped', async () => {
    const child = spawn('true', { stdio: 'ignore' });
    await once(child, 'exit');
    expect((await listProcesses()).some(({ pid }) => pid === child.pid)).toBe(false);
  });
});
