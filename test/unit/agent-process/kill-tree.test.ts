import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isSameProcess, readIdentity } from '../../../agent/process/identity.ts';
import { killTree } from '../../../agent/process/kill-tree.ts';
import { CommandTree, until } from './command-tree.ts';

/** Every way out of a shell's group that people use; `note` runs as its last act before it waits. */
const ESCAPEES = `
  trap '' TERM                                                              # a TERM-ignorer, and so are its children
  bash -c 'echo "$$ ." > pid.group; while :; do sleep 1; done' &
  setsid bash -c 'echo "$$ ." > pid.setsid; exec sleep 300' &
  ( setsid bash -c 'echo "$$ ." > pid.double; exec sleep 300' & )           # double fork: its parent is process 1
  nohup bash -c 'echo "$$ ." > pid.nohup; exec sleep 300' > /dev/null 2>&1 &
  ( bash -c 'echo "$$ ." > pid.orphan; exec sleep 300' & )                  # an orphaned grandchild
  env -i setsid bash -c 'echo "$$ ." > pid.cleared; exec sleep 300' &       # its environment shows no marker
  note leader
  while :; do sleep 1; done`;
const ESCAPEE_NAMES = ['group', 'setsid', 'double', 'nohup', 'orphan', 'cleared', 'leader'];

describe('killing a tree', () => {
  test('ends setsid, double fork, nohup, TERM-ignorers, orphans and cleared environments (part of B05)', async () => {
    await using tree = await CommandTree.start(ESCAPEES);
    const members = await Promise.all(ESCAPEE_NAMES.map((name) => tree.noted(name)));
    const { survivors, signalled } = await killTree({ ...tree.root, graceMs: 50 });
    expect(survivors).toEqual([]);
    expect(signalled).toBeGreaterThanOrEqual(ESCAPEE_NAMES.length);
    expect(members.filter(isSameProcess)).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)('names what it may not signal as survivor (part of B05)', async () => {
    await using tree = await CommandTree.start(`exec -a other sleep 300`, { uid: 65_534 });
    await until('the command is running sleep', () => readIdentity(tree.leader.pid)?.name === 'sleep');
    process.seteuid?.(65_533);
    try {
      const result = await killTree({ leader: tree.leader, graceMs: 0 });
      expect(result).toMatchObject({ survivors: [{ pid: tree.leader.pid, name: 'sleep' }], signalled: 0 });
    } finally {
      process.seteuid?.(0);
    }
    expect(isSameProcess(tree.leader)).toBe(true);
  });

  test('lets a trap clean up, and ends as soon as it has (part of B03)', async () => {
    await using tree = await CommandTree.start(
      `trap 'kill %1; sleep 0.2; touch cleaned; exit 3' TERM; sleep 300 & note leader; wait`,
    );
    await tree.noted('leader');
    const startedMs = performance.now();
    expect(await killTree({ ...tree.root, graceMs: 30_000 })).toMatchObject({ survivors: [] });
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    expect(existsSync(join(tree.folder, 'cleaned'))).toBe(true);
  });

  test('ends what was orphaned by the TERM and shows no marker, because it was seen before', async () => {
    await using tree = await CommandTree.start(
      `env -i setsid bash -c 'trap "" TERM; echo "$$ ." > pid.cleared; exec sleep 300' & note leader; wait`,
    );
    const cleared = await tree.noted('cleared');
    await tree.noted('leader');
    expect(await killTree({ ...tree.root, graceMs: 200 })).toMatchObject({ survivors: [] });
    expect(isSameProcess(cleared)).toBe(false);
  });

  test('gives what left the session its TERM too', async () => {
    await using tree = await CommandTree.start(
      `setsid bash -c 'trap "touch asked; exit" TERM; echo "$$ ." > pid.away; sleep 300 & wait' & note leader; wait`,
    );
    await tree.noted('away');
    expect(await killTree({ ...tree.root, graceMs: 30_000 })).toMatchObject({ survivors: [] });
    expect(existsSync(join(tree.folder, 'asked'))).toBe(true);
  });

  test('ends a pipe of background loop and reader within the grace (part of R2)', async () => {
    await using tree = await CommandTree.start(
      `mkfifo p; (note loop; while :; do echo c; sleep 1; done) > p & note leader; cat p`,
    );
    const members = [await tree.noted('loop'), await tree.noted('leader')];
    expect(await killTree({ ...tree.root, graceMs: 5000 })).toMatchObject({ survivors: [] });
    expect(members.filter(isSameProcess)).toEqual([]);
  });

  test('ends a TERM-ignorer when the grace is over, not before (part of R2)', async () => {
    await using tree = await CommandTree.start(`trap '' TERM; note leader; while :; do sleep 1; done`);
    await tree.noted('leader');
    const startedMs = performance.now();
    expect(await killTree({ ...tree.root, graceMs: 300 })).toMatchObject({ survivors: [] });
    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThanOrEqual(300);
    expect(tookMs).toBeLessThan(2300);
    await until('the parent sees SIGKILL', () => tree.child.signalCode === 'SIGKILL');
  });

  test('reaches a stopped process', async () => {
    await using tree = await CommandTree.start(`trap 'touch woken; exit' TERM; note leader; kill -STOP $$`);
    await until('it is stopped', () => readIdentity(tree.leader.pid)?.state === 'T');
    expect(await killTree({ ...tree.root, graceMs: 10_000 })).toMatchObject({ survivors: [] });
    expect(existsSync(join(tree.folder, 'woken'))).toBe(true);
  });

  test('catches what forks while it is being killed', async () => {
    await using tree = await CommandTree.start(
      `trap '' TERM; f() { sleep 0.01; f & }; for i in 1 2 3 4; do f & done; note leader; while :; do sleep 0.01; done`,
    );
    await tree.noted('leader');
    expect(await killTree({ ...tree.root, graceMs: 20 })).toMatchObject({ survivors: [] });
  });

  test('stops waiting when it is aborted and has sent no KILL', async () => {
    await using tree = await CommandTree.start(`trap 'touch asked' TERM; note leader; while :; do sleep 0.05; done`);
    await tree.noted('leader');
    const closing = new AbortController();
    const killing = killTree({ ...tree.root, graceMs: 60_000, signal: closing.signal });
    await until('TERM has arrived', () => existsSync(join(tree.folder, 'asked')));
    closing.abort(new Error('closing'));
    await expect(killing).rejects.toThrow('closing');
    expect(isSameProcess(tree.leader)).toBe(true);
  });
});

describe('A2: a signal goes to nobody else', () => {
  const BYSTANDER = `for s in TERM CONT HUP; do trap "touch hit" $s; done; note leader; while :; do sleep 0.02; done`;

  test('so a bystander with a recycled pid lives (part of B07)', async () => {
    await using bystander = await CommandTree.start(BYSTANDER, { hasMarker: false });
    const identity = await bystander.noted('leader');
    const leader = { ...bystander.leader, startTimeTicks: bystander.leader.startTimeTicks - 1000 };
    for (const marker of [undefined, bystander.marker]) {
      expect(await killTree({ leader, marker, graceMs: 0 })).toEqual({ survivors: [], signalled: 0 });
    }
    expect(isSameProcess(identity)).toBe(true);
    expect(existsSync(join(bystander.folder, 'hit'))).toBe(false);
  });

  test('so a session whose number strangers hold now lives when our leader is gone (part of B07)', async () => {
    await using gone = await CommandTree.start('true');
    await until('the command has ended', () => readIdentity(gone.leader.pid) === undefined);
    await using bystander = await CommandTree.start(BYSTANDER, { hasMarker: false });
    const identity = await bystander.noted('leader');
    const leader = { ...gone.leader, session: bystander.leader.session };
    expect(await killTree({ leader, marker: gone.marker, graceMs: 0 })).toEqual({ survivors: [], signalled: 0 });
    expect(isSameProcess(identity)).toBe(true);
    expect(existsSync(join(bystander.folder, 'hit'))).toBe(false);
  });

  test('so what an ended command left in its session is ended by session and marker, and its daemons live', async () => {
    await using tree = await CommandTree.start(`
      bash -c 'echo "$$ ." > pid.left; exec sleep 300' &
      setsid bash -c 'echo "$$ ." > pid.daemon; exec sleep 300' &
      while ! [ -s pid.left ] || ! [ -s pid.daemon ]; do sleep 0.02; done`);
    const [left, daemon] = [await tree.noted('left'), await tree.noted('daemon')];
    await until('the command has ended', () => readIdentity(tree.leader.pid) === undefined);
    expect(await killTree({ leader: tree.leader, graceMs: 0 })).toMatchObject({ signalled: 0 });
    expect(await killTree({ ...tree.root, graceMs: 1000 })).toEqual({ survivors: [], signalled: 1 });
    expect([left, daemon].map(isSameProcess)).toEqual([false, true]);
  });

  test('so we ourselves and our own group and session are never signalled', async () => {
    const own = readIdentity(process.pid);
    if (own === undefined) throw new Error('this process is not in /proc');
    expect(await killTree({ leader: own, graceMs: 0 })).toEqual({ survivors: [], signalled: 0 });
  });
});
