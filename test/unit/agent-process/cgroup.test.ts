import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CgroupBase } from '../../../agent/process/cgroup-base.ts';
import {
  countOutOfMemoryKills,
  holdsOurselves,
  isPopulated,
  killCgroup,
  listCgroupPids,
  removeCgroup,
} from '../../../agent/process/cgroup.ts';
import { killTree } from '../../../agent/process/kill-tree.ts';
import { isCgroupUsable } from '../../fixtures/command-trees.ts';
import { CommandTree, until } from './command-tree.ts';

function makeCgroup() {
  const base = CgroupBase.find(`a-unit${process.pid}`);
  const cgroup = base?.create('1.1');
  if (base === undefined || cgroup === undefined) throw new Error('no cgroup could be made');
  onTestFinished(async () => {
    killCgroup(cgroup);
    await until('nothing lives in it', () => isPopulated(cgroup) !== true);
    removeCgroup(cgroup);
    base.remove();
  });
  return { base, cgroup };
}

describe.runIf(isCgroupUsable)('a cgroup', () => {
  test('tells whether something lives in it or below, lists it, kills it, and goes when it is empty', async () => {
    const { cgroup } = makeCgroup();
    expect([isPopulated(cgroup), listCgroupPids(cgroup)]).toEqual([false, []]);
    await using tree = await CommandTree.start(`echo 0 > '${cgroup.path}/cgroup.procs'
      mkdir '${cgroup.path}/below'
      ( echo 0 > '${cgroup.path}/below/cgroup.procs'; exec bash -c 'echo "$$ ." > pid.below; sleep 300 & wait' ) &
      note leader; wait`);
    const members = [await tree.noted('leader'), await tree.noted('below')];
    expect(listCgroupPids(cgroup)).toEqual(expect.arrayContaining(members.map(({ pid }) => pid)));
    expect([isPopulated(cgroup), removeCgroup(cgroup)]).toEqual([true, false]);
    expect(killCgroup(cgroup)).toBe(true);
    await until('nothing lives in it', () => isPopulated(cgroup) === false);
    expect(removeCgroup(cgroup)).toBe(true);
    expect([isPopulated(cgroup), killCgroup(cgroup), removeCgroup(cgroup)]).toEqual([undefined, false, true]);
  });

  test('A2: that only has the recorded name is neither asked, killed nor removed', async () => {
    const { cgroup } = makeCgroup();
    await using tree = await CommandTree.start(`echo 0 > '${cgroup.path}/cgroup.procs'; note leader; exec sleep 300`);
    const leader = await tree.noted('leader');
    const other = { ...cgroup, inode: String(BigInt(cgroup.inode) + 1n) };
    expect([isPopulated(other), killCgroup(other), listCgroupPids(other)]).toEqual([undefined, false, []]);
    expect(removeCgroup(other)).toBe(true);
    const recorded = { ...tree.leader, startTimeTicks: tree.leader.startTimeTicks - 1000 };
    const killed = await killTree({ leader: recorded, cgroup: other, graceMs: 0 });
    expect(killed).toEqual({ survivors: [], signalled: 0 });
    expect(listCgroupPids(cgroup)).toEqual([leader.pid]);
  });

  test('B05: leads to what has left the session, lost its parent and cleared its environment, with its TERM first', async () => {
    const { cgroup } = makeCgroup();
    await using tree = await CommandTree.start(`echo 0 > '${cgroup.path}/cgroup.procs'
      ( env -i setsid bash -c 'trap "touch asked; exit" TERM; echo "$$ ." > pid.away; while :; do sleep 0.05; done' & )
      while ! [ -s pid.away ]; do sleep 0.02; done`);
    await tree.noted('away');
    await until('the leader has ended', () => tree.child.exitCode !== null);
    expect(await killTree({ ...tree.root, graceMs: 0 })).toEqual({ survivors: [], signalled: 0 });
    expect(isPopulated(cgroup)).toBe(true);
    expect(await killTree({ leader: undefined, cgroup, graceMs: 10_000 })).toMatchObject({ survivors: [] });
    expect(isPopulated(cgroup)).toBe(false);
    expect(statSync(join(tree.folder, 'asked')).size).toBe(0);
  });

  test('is not ours to kill while we are in it ourselves', async () => {
    const { cgroup } = makeCgroup();
    expect(holdsOurselves(cgroup)).toBe(false);
    const script = `import { holdsOurselves } from ${JSON.stringify(join(import.meta.dirname, '../../../agent/process/cgroup.ts'))};
      process.exitCode = holdsOurselves(${JSON.stringify(cgroup)}) ? 3 : 4;`;
    const enter = `echo 0 > '${cgroup.path}/cgroup.procs'; exec "$@"`;
    const words = ['-c', enter, 'sh', process.execPath, '--input-type=module', '-e', script];
    const child = spawn('sh', words, { stdio: 'inherit' });
    await until('it has answered', () => child.exitCode !== null);
    expect(child.exitCode).toBe(3);
  });

  test('that no row knows is removed from the base when it is empty, and nothing else is', () => {
    const { base, cgroup } = makeCgroup();
    const recorded = base.create('2.1');
    const strange = join(base.path, 'strange');
    mkdirSync(strange);
    base.removeUnrecorded(new Set([recorded?.path ?? '']));
    expect(isPopulated(cgroup)).toBeUndefined();
    expect(recorded !== undefined && isPopulated(recorded)).toBe(false);
    rmdirSync(strange);
    if (recorded !== undefined) expect(removeCgroup(recorded)).toBe(true);
  });
});

test('B06: deaths for lack of memory are read where the kernel counts them, and unknown elsewhere', () => {
  // Only the file's form is shown here: a folder of our own stands for the cgroup.
  const path = mkdtempSync(join(tmpdir(), 'latchkey-events-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const cgroup = { path, inode: String(statSync(path, { bigint: true }).ino) };
  expect(countOutOfMemoryKills(cgroup)).toBeUndefined();
  writeFileSync(join(path, 'memory.events'), 'low 0\nhigh 0\nmax 12\noom 1\noom_kill 2\noom_group_kill 0\n');
  expect(countOutOfMemoryKills(cgroup)).toBe(2);
});
