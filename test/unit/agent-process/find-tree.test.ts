import { describe, expect, test } from 'vitest';
import { findTree, selectTree, TreeSearch } from '../../../agent/process/find-tree.ts';
import type { TreeEvidence } from '../../../agent/process/find-tree.ts';
import type { ProcessIdentity } from '../../../agent/process/identity.ts';
import { readIdentity } from '../../../agent/process/identity.ts';
import { isProtected, signalProcess } from '../../../agent/process/signal-process.ts';
import { CommandTree, until } from './command-tree.ts';

// Pids far above any real one, so that none is this test's own.
const LEADER = 9_000_100;
const leader = { pid: LEADER, startTimeTicks: 500, session: LEADER };

function aProcess(pid: number, fields: Partial<ProcessIdentity> = {}): ProcessIdentity {
  const session = fields.session ?? pid;
  return { pid, startTimeTicks: 600, state: 'S', session, group: session, parent: 1, threads: 1, name: 'x', ...fields };
}

function evidence(fields: Partial<TreeEvidence> = {}): TreeEvidence {
  return { known: new Map(), marked: new Set(), confined: new Set(), wasRunning: true, ...fields };
}

const running = aProcess(LEADER, { startTimeTicks: 500 });
const inSession = aProcess(LEADER + 1, { session: LEADER });
const escaped = aProcess(LEADER + 2);

describe('the members of a tree', () => {
  const CASES: [title: string, members: number[], processes: ProcessIdentity[], evidence: TreeEvidence][] = [
    ['are the leader and its session', [0, 1], [running, inSession, escaped], evidence()],
    ['include what shows the marker', [0, 2], [running, escaped], evidence({ marked: new Set([escaped.pid]) })],
    [
      'include children of children in other sessions',
      [0, 2, 3],
      [aProcess(LEADER + 3, { parent: escaped.pid }), aProcess(LEADER + 2, { parent: LEADER }), running],
      evidence(),
    ],
    [
      'leave out an older process whose parent only has a used-again pid',
      [0],
      [running, aProcess(LEADER + 2, { parent: LEADER, startTimeTicks: 499 })],
      evidence(),
    ],
    ['are none when the pid has another owner', [], [aProcess(LEADER), inSession], evidence({ wasRunning: false })],
    ['are none in a session that nobody vouches for', [], [inSession], evidence({ wasRunning: false })],
    [
      'are the session when the leader is an unreaped zombie, which keeps its number',
      [1],
      [{ ...running, state: 'Z' }, inSession],
      evidence({ wasRunning: false }),
    ],
    [
      'are the session when a member shows the marker',
      [1, 4],
      [inSession, aProcess(LEADER + 4, { session: LEADER }), escaped],
      evidence({ wasRunning: false, marked: new Set([inSession.pid, escaped.pid]) }),
    ],
    [
      'stay known after they were orphaned',
      [1, 2],
      [inSession, escaped],
      evidence({ known: new Map([inSession, escaped].map((member) => [member.pid, member])) }),
    ],
    [
      'are everything that was seen in the cgroup, its session and its children, with nothing else to go by',
      [1, 2, 3, 4],
      [
        aProcess(LEADER + 1, { session: LEADER }),
        escaped,
        aProcess(LEADER + 3, { parent: escaped.pid }),
        aProcess(LEADER + 4, { session: LEADER }),
        aProcess(LEADER + 5),
      ],
      evidence({ wasRunning: false, confined: new Set([inSession.pid, escaped.pid]) }),
    ],
    [
      'are not known by pid alone',
      [],
      [escaped],
      evidence({ known: new Map([[escaped.pid, { ...escaped, startTimeTicks: 599 }]]) }),
    ],
  ];
  test.each(CASES)('%s', (_title, members, processes, seen) => {
    const found = selectTree(processes, leader, seen).map((member) => member.pid - LEADER);
    expect(found.toSorted((left, right) => left - right)).toEqual(members);
  });

  test('are found among real processes', async () => {
    await using tree = await CommandTree.start(
      `( setsid bash -c 'echo "$$ ." > pid.double; exec sleep 300' & ) ; note leader; wait; while :; do sleep 1; done`,
    );
    const expected = [await tree.noted('double'), await tree.noted('leader')].map(({ pid }) => pid);
    expect((await findTree(tree.root)).map(({ pid }) => pid)).toEqual(expect.arrayContaining(expected));
    const withOtherMarker = await findTree({ leader: tree.leader, marker: tree.marker.slice(1) });
    expect(withOtherMarker.map(({ pid }) => pid)).not.toContain(expected[0]);
  });

  test('stay found when their parents are gone and nothing else shows whose they are', async () => {
    await using tree = await CommandTree.start(
      `env -i setsid bash -c 'echo "$$ ." > pid.cleared; exec sleep 300' & note leader; wait`,
    );
    const cleared = await tree.noted('cleared');
    const search = new TreeSearch(tree.root);
    await search.scan();
    signalProcess(await tree.noted('leader'), 'SIGKILL');
    await until('the leader has ended', () => readIdentity(tree.leader.pid) === undefined);
    expect((await search.scan()).map(({ pid }) => pid)).toEqual([cleared.pid]);
    expect(await findTree(tree.root)).toEqual([]);
  });
});

test('process 1, the kernel and what shares their group or session are protected', () => {
  expect(isProtected(aProcess(1))).toBe(true);
  expect(isProtected(aProcess(2, { session: 0 }))).toBe(true);
  expect(isProtected(aProcess(LEADER, { session: 0, group: LEADER }))).toBe(true);
  expect(isProtected(aProcess(LEADER, { group: 1 }))).toBe(true);
  expect(isProtected(aProcess(process.pid))).toBe(true);
  expect(isProtected(aProcess(LEADER))).toBe(false);
});
