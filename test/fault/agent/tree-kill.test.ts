/** The danger: a cancel leaves something of the command alive, takes its clean-up away, or tells something untrue. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  AgentProcess,
  awaitEnd,
  countRuns,
  keyed,
  logged,
  makeAgentFolder,
  startRequest,
} from '../../fixtures/agent-process.ts';
import { cgroupFoldersOf, listCommandCgroups } from '../../fixtures/cgroups.ts';
import {
  isCgroupUsable,
  listWorkingIn,
  readStartedPid,
  TREES,
  untilMade,
  wordsFor,
} from '../../fixtures/command-trees.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

test.skipIf(isCgroupUsable)('B05: SKIPPED with cgroup v2, which this machine does not let us use', () => {
  expect(TREES).toEqual(['group']);
});

/** Every way out of a shell's group that people use. Each tells that it runs by a file in the working folder. */
const ESCAPEES = `
  trap '' TERM
  run() { echo "touch $1; exec sleep 300"; }
  bash -c "$(run child)" &
  setsid bash -c "$(run setsid)" &
  ( setsid bash -c "$(run double)" & )
  nohup bash -c "$(run nohup)" > /dev/null 2>&1 &
  ( bash -c "$(run orphan)" & )
  env -i setsid bash -c "$(run cleared)" &
  echo up; touch leader; while :; do sleep 1; done`;
const ESCAPEE_NAMES = ['child', 'setsid', 'double', 'nohup', 'orphan', 'cleared', 'leader'];
/** Orphaned in another session, its environment cleared: nothing but a cgroup shows whose it is. */
const UNFINDABLE = `( env -i setsid bash -c 'echo $$ > pid; exec sleep 300' & ); while :; do sleep 1; done`;

for (const tree of TREES) {
  const words = wordsFor(tree);
  const open = async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder, { words });
    return { folder, agent, target: await agent.target() };
  };

  describe(`with the tree known by ${tree}`, () => {
    test('info tells how the tree is known', async () => {
      const { agent } = await open();
      expect(await agent.client.info({})).toMatchObject({ tree });
    });

    test('B03: a cancel lets a trap clean up, keeps the output, says that it was canceled, and says so again', async () => {
      const { agent, target, folder } = await open();
      const command = `trap 'echo cleaning; touch cleaned; exit 3' TERM; echo working; touch up; while :; do sleep 0.05; done`;
      await agent.client.start(startRequest(target, '1-trap', logged(folder, '1-trap', command)));
      await untilMade(folder, 'up');
      const request = { ...keyed(target, '1-trap'), mode: 'kill', graceMs: 20_000 } as const;
      const both = await Promise.all([agent.client.cancel(request), agent.client.cancel(request)]);
      const again = await agent.client.cancel(request);
      for (const answer of [...both, again]) {
        expect(answer).toMatchObject({ state: 'exited', exit: { code: 3, killedBy: 'cancel' }, survivors: [] });
      }
      expect(existsSync(join(folder.workspace, 'cleaned'))).toBe(true);
      expect((await awaitEnd(agent.client, target, '1-trap')).text).toMatch(/^working\n(Terminated\n)?cleaning\n$/);
      expect(countRuns(folder, '1-trap')).toBe(1);
    });

    describe('B05: a tree of every kind of escapee gets TERM, its grace, then KILL, and nothing of it survives', () => {
      test('B03: a tree of every kind of escapee gets TERM, its grace, then KILL, and nothing of it survives', async () => {
        const { agent, target, folder } = await open();
        await agent.client.start(startRequest(target, '1-tree', ESCAPEES));
        for (const name of ESCAPEE_NAMES) await untilMade(folder, name);
        const began = performance.now();
        const canceled = await agent.client.cancel({ ...keyed(target, '1-tree'), mode: 'kill', graceMs: 400 });
        expect(performance.now() - began).toBeGreaterThanOrEqual(400);
        expect(canceled).toMatchObject({ state: 'exited', exit: { code: 137, killedBy: 'cancel' }, survivors: [] });
        expect((await awaitEnd(agent.client, target, '1-tree')).text).toBe('up\n');
        expect(listWorkingIn(folder)).toEqual([]);
        await waitUntil('its cgroup is removed', () => listCommandCgroups(target.agentId).length === 0);
      });
    });

    test('R2: a pipe of loop and reader is ended by its time limit within the grace, and a TERM-ignorer after it', async () => {
      const { agent, target, folder } = await open();
      const pipe = `mkfifo p; (while :; do echo c; sleep 1; done) > p & cat p`;
      const ignorer = `trap '' TERM; echo up; touch up; while :; do sleep 1; done`;
      await agent.client.start(startRequest(target, '2-pipe', pipe, { killAfterMs: 1500 }));
      await agent.client.start(startRequest(target, '2-limit', ignorer, { killAfterMs: 1500 }));
      await agent.client.start(startRequest(target, '2-user', ignorer));
      const piped = await awaitEnd(agent.client, target, '2-pipe');
      expect(piped).toMatchObject({ exit: { code: 143, killedBy: 'kill_after' } });
      expect(piped.text).toMatch(/^(c\n)+$/);
      const limited = await awaitEnd(agent.client, target, '2-limit');
      expect(limited).toMatchObject({ exit: { code: 137, signal: 'SIGKILL', killedBy: 'kill_after' }, text: 'up\n' });
      await untilMade(folder, 'up');
      const canceled = await agent.client.cancel({ ...keyed(target, '2-user'), mode: 'kill', graceMs: 300 });
      expect(canceled).toMatchObject({ exit: { code: 137, signal: 'SIGKILL', killedBy: 'cancel' }, survivors: [] });
      await waitUntil('nothing is left of any of them', () => listWorkingIn(folder).length === 0, {
        describe: () => listWorkingIn(folder),
      });
    });

    test('R4: after a cancel the port is free, and a second start of the same command gets it', async () => {
      const { agent, target, folder } = await open();
      const port = await takePort(0);
      const server = `sh -c '${process.execPath} server.mjs'`;
      const source = `import { createServer } from 'node:http'; import { writeFileSync } from 'node:fs';
        createServer().listen(${port}, '127.0.0.1', () => { console.log('listening'); writeFileSync(process.env.UP, ''); });`;
      for (const key of ['4-first', '4-second']) {
        const command = `cat > server.mjs <<'E'\n${source}\nE\nUP=${key} ${server}`;
        await agent.client.start(startRequest(target, key, command));
        await untilMade(folder, key);
        const canceled = await agent.client.cancel({ ...keyed(target, key), mode: 'kill', graceMs: 5000 });
        expect(canceled).toMatchObject({ state: 'exited', exit: { killedBy: 'cancel' }, survivors: [] });
        expect((await awaitEnd(agent.client, target, key)).text).toBe('listening\n');
        expect(await takePort(port)).toBe(port);
      }
    });

    test('R25, A1: a killed agent finds both a command and a server again, and the command keeps its real exit', async () => {
      const { agent, target, folder } = await open();
      const foreground = startRequest(
        target,
        '25-fore',
        logged(folder, '25-fore', 'echo out; while ! [ -e go ]; do sleep 0.05; done; exit 7'),
      );
      const server = startRequest(target, '25-back', logged(folder, '25-back', 'echo up; touch up; exec sleep 300'), {
        background: true,
      });
      await agent.client.start(foreground);
      await agent.client.start(server);
      await untilMade(folder, 'up');
      await agent.kill();
      const next = await AgentProcess.start(folder, { words });
      for (const request of [foreground, server]) {
        expect(await next.client.start(request)).toMatchObject({ outcome: 'attached', state: 'running' });
      }
      await next.client.start(startRequest(target, '25-go', 'touch go'));
      const end = await awaitEnd(next.client, target, '25-fore');
      expect(end).toMatchObject({ state: 'exited', exit: { code: 7 }, text: 'out\n' });
      expect(end.exit?.killedBy).toBeUndefined();
      const canceled = await next.client.cancel({ ...keyed(target, '25-back'), mode: 'kill' });
      expect(canceled).toMatchObject({ state: 'exited', exit: { code: 143, killedBy: 'cancel' }, survivors: [] });
      expect([countRuns(folder, '25-fore'), countRuns(folder, '25-back')]).toEqual([1, 1]);
    });

    test('B03: a cancel of an ended command stops what it left running in its session', async () => {
      const { agent, target, folder } = await open();
      await agent.client.start(startRequest(target, '5-left', `(touch up; exec sleep 300) > /dev/null 2>&1 & exit 0`));
      await untilMade(folder, 'up');
      expect(await awaitEnd(agent.client, target, '5-left')).toMatchObject({ exit: { code: 0 } });
      expect(listWorkingIn(folder)).toHaveLength(1);
      const canceled = await agent.client.cancel({ ...keyed(target, '5-left'), mode: 'kill' });
      expect(canceled).toMatchObject({ state: 'exited', exit: { code: 0 }, survivors: [] });
      expect(canceled.exit?.killedBy).toBeUndefined();
      expect(listWorkingIn(folder)).toEqual([]);
    });
  });
}

describe.runIf(isCgroupUsable)('with cgroup v2', () => {
  test('B05: what nothing but the cgroup shows is killed too, also after the leader and after the agent were killed', async () => {
    for (const isLeaderGone of [false, true]) {
      const folder = makeAgentFolder();
      const agent = await AgentProcess.start(folder);
      const target = await agent.target();
      await agent.client.start(startRequest(target, '1-call', UNFINDABLE));
      await untilMade(folder, 'pid');
      if (isLeaderGone) {
        process.kill(readStartedPid(folder, 1), 'SIGKILL');
        expect(await awaitEnd(agent.client, target, '1-call')).toMatchObject({ exit: { code: 137 } });
      }
      await agent.kill();
      const next = await AgentProcess.start(folder);
      expect(listWorkingIn(folder).length).toBeGreaterThan(0);
      const canceled = await next.client.cancel({ ...keyed(target, '1-call'), mode: 'kill', graceMs: 5000 });
      expect(canceled).toMatchObject({ state: 'exited', survivors: [] });
      expect(canceled.exit?.killedBy).toBe(isLeaderGone ? undefined : 'cancel');
      expect(listWorkingIn(folder)).toEqual([]);
      await waitUntil('its cgroup is removed', () => listCommandCgroups(target.agentId).length === 0);
    }
  });

  test('B05: a kill whose agent died in the grace is finished after its restart, also when the command has ended', async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder);
    const target = await agent.target();
    const command = `( trap '' TERM; touch up; while :; do sleep 0.1; done ) > /dev/null 2>&1 & wait`;
    await agent.client.start(startRequest(target, '1-call', command));
    await untilMade(folder, 'up');
    await agent.client.cancel({ ...keyed(target, '1-call'), mode: 'kill', graceMs: 60_000, waitMs: 1 });
    expect(await awaitEnd(agent.client, target, '1-call')).toMatchObject({ exit: { code: 143, killedBy: 'cancel' } });
    expect(listWorkingIn(folder).length).toBeGreaterThan(0);
    await agent.kill();
    await AgentProcess.start(folder);
    await waitUntil('nothing is left', () => listWorkingIn(folder).length === 0);
  });

  test('a command that cannot enter its cgroup runs all the same, and is killed as without one', async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder, {
      env: { LATCHKEY_KEEPER_SCRIPT: keeperWithoutCgroup(folder.root) },
    });
    const target = await agent.target();
    await agent.client.start(startRequest(target, '1-call', 'touch up; sleep 300'));
    await untilMade(folder, 'up');
    expect(existsSync(join(folder.state, 'commands', '1.1', 'no-cgroup'))).toBe(true);
    const canceled = await agent.client.cancel({ ...keyed(target, '1-call'), mode: 'kill' });
    expect(canceled).toMatchObject({ exit: { code: 143, killedBy: 'cancel' }, survivors: [] });
  });

  test('an agent that is stopped leaves no empty cgroup behind', async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder);
    const target = await agent.target();
    await agent.client.start(startRequest(target, '1-call', 'true'));
    await awaitEnd(agent.client, target, '1-call');
    await agent.kill('SIGTERM');
    expect(cgroupFoldersOf(target.agentId)).toEqual([]);
  });
});

const UNPRIVILEGED = 65_534;
const ANOTHER_USER = 65_533;
const OTHER_USER_WORDS = ['setpriv', `--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups'] as const;

/** Another user must be able to run node from here, and to change its user by a file of root's. */
function mayBeAnotherUser(): boolean {
  const [program, ...rest] = OTHER_USER_WORDS;
  return process.getuid?.() === 0 && spawnSync(program, [...rest, process.execPath, '-e', '']).status === 0;
}

test.runIf(mayBeAnotherUser())(
  'B05: without cgroup what cannot be killed is named as survivor, never hidden',
  async () => {
    const folder = makeAgentFolder();
    const change = join(folder.root, 'change-user');
    copyFileSync('/usr/bin/setpriv', change);
    spawnSync('chown', ['-R', String(UNPRIVILEGED), folder.root]);
    spawnSync('chown', ['root', change]);
    chmodSync(change, 0o4755);
    const agent = await AgentProcess.start(folder, { launcher: OTHER_USER_WORDS });
    expect(await agent.client.info({})).toMatchObject({ tree: 'group' });
    const target = await agent.target();
    const command = `'${change}' --reuid=${ANOTHER_USER} sleep 300 & echo $! > pid; touch up; wait`;
    await agent.client.start(startRequest(target, '1-call', command));
    await untilMade(folder, 'up');
    const pid = Number(readFileSync(join(folder.workspace, 'pid'), 'utf8'));
    try {
      await waitUntil('it is the other user', () => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n');
      const request = { ...keyed(target, '1-call'), mode: 'kill', graceMs: 100 } as const;
      for (const answer of [await agent.client.cancel(request), await agent.client.cancel(request)]) {
        expect(answer).toMatchObject({ exit: { killedBy: 'cancel' }, survivors: [{ pid, name: 'sleep' }] });
      }
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  },
);

/** A keeper that looks for its cgroup where there is none. */
function keeperWithoutCgroup(folder: string): string {
  const source = readFileSync(join(import.meta.dirname, '../../../agent/keeper/keeper.sh'), 'utf8');
  const script = join(folder, 'keeper.sh');
  const changed = source.replace('$cgroup/cgroup.procs', '$cgroup/nothing/here');
  expect(changed).not.toBe(source);
  writeFileSync(script, changed);
  return script;
}

async function takePort(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const taken = (server.address() as AddressInfo).port;
  await new Promise((closed) => server.close(closed));
  return taken;
}
