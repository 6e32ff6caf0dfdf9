import { describe, expect, test } from 'vitest';
import { isSameProcess, readIdentity } from '../../../agent/process/identity.ts';
import type { ProcessIdentity } from '../../../agent/process/identity.ts';
import { signalMembers } from '../../../agent/process/signal-members.ts';
import { signalGroupOf, signalProcess } from '../../../agent/process/signal-process.ts';
import { CommandTree, until } from './command-tree.ts';

function requireIdentity(pid: number): ProcessIdentity {
  const identity = readIdentity(pid);
  if (identity === undefined) throw new Error(`nobody has pid ${pid}`);
  return identity;
}

describe('A2: the look right before a signal', () => {
  test('keeps it from a later owner of the pid and from a later group', async () => {
    await using tree = await CommandTree.start('note leader; exec sleep 300');
    const current = await tree.noted('leader');
    const earlier = { ...current, startTimeTicks: current.startTimeTicks - 1 };
    expect(signalProcess(earlier, 'SIGKILL')).toBe('gone');
    expect(signalGroupOf(earlier, 'SIGKILL')).toBe('gone');
    expect(signalGroupOf({ ...current, group: current.group + 1 }, 'SIGKILL')).toBe('gone');
    expect(isSameProcess(current)).toBe(true);
    expect(signalGroupOf(current, 'SIGKILL')).toBe('sent');
    await until('it has ended', () => !isSameProcess(current));
    expect(signalProcess(current, 'SIGKILL')).toBe('gone');
  });

  test('keeps it from ourselves', () => {
    const own = requireIdentity(process.pid);
    expect(signalProcess(own, 'SIGKILL')).toBe('protected');
    expect(signalGroupOf(own, 'SIGKILL')).toBe('protected');
  });
});

test('A2: a group whose leader is no member and whose session is not ours is signalled singly', async () => {
  await using tree = await CommandTree.start(`bash -c 'echo "$$ ." > pid.child; exec sleep 300' & note leader; wait`);
  const [leader, child] = [await tree.noted('leader'), await tree.noted('child')];
  expect(signalMembers([child], leader.session + 1, 'SIGKILL')).toEqual([child]);
  await until('the child has ended', () => !isSameProcess(child));
  await until('the leader has ended', () => tree.child.exitCode !== null || tree.child.signalCode !== null);
  expect(tree.child.exitCode).toBe(0);
});

test('a group is reached through the first member that is still there', async () => {
  await using tree = await CommandTree.start('note leader; while :; do sleep 0.05; done');
  const leader = await tree.noted('leader');
  const ended = { ...leader, startTimeTicks: leader.startTimeTicks - 1 };
  expect(signalMembers([ended, leader], leader.session, 'SIGKILL')).toHaveLength(2);
  await until('it has ended', () => !isSameProcess(leader));
});
