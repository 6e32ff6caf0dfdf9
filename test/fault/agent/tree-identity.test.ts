/** The danger: a signal goes to somebody who got the pid, the group or the cgroup's name of a command later (A2). */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readIdentity } from '../../../agent/process/identity.ts';
import type { AgentFolder } from '../../fixtures/agent-process.ts';
import { AgentProcess, countRuns, keyed, logged, makeAgentFolder, startRequest } from '../../fixtures/agent-process.ts';
import { listCommandCgroups } from '../../fixtures/cgroups.ts';
import {
  isCgroupUsable,
  listWorkingIn,
  readStartedPid,
  TREES,
  untilMade,
  wordsFor,
} from '../../fixtures/command-trees.ts';
import { findMarked } from '../../fixtures/processes.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

/** A stranger in a session of its own, as a command is. */
function startBystander(): { readonly child: ChildProcess; readonly pid: number } {
  const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (child.pid === undefined) throw new Error('the bystander could not be started');
  return { child, pid: child.pid };
}

/** Ends agent, keeper and command at one blow, and gives the bystander the pid in the command's record. */
async function loseTo(pid: number, folder: AgentFolder, agent: AgentProcess): Promise<void> {
  await agent.kill();
  const commandPid = readStartedPid(folder, 1);
  for (const keeper of findMarked(join(folder.state, 'commands', '1.1'))) process.kill(keeper.pid, 'SIGKILL');
  process.kill(commandPid, 'SIGKILL');
  await waitUntil('all of it is gone', () => listWorkingIn(folder).length === 0);
  const recycled = (readIdentity(pid)?.startTimeTicks ?? 0) - 1000;
  writeFileSync(join(folder.state, 'commands', '1.1', 'started'), `${pid} ${recycled} .\n`);
}

for (const tree of TREES) {
  test(`B07, A2: after a restart with a recycled pid the bystander lives, whatever cancel was under way or comes, and the key says lost, by ${tree}`, async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder, { words: wordsFor(tree) });
    const target = await agent.target();
    const command = logged(folder, '7-call', `trap '' TERM; touch up; while :; do sleep 0.1; done`);
    await agent.client.start(startRequest(target, '7-call', command));
    await untilMade(folder, 'up');
    // On record from now on: the next agent would go on with it.
    await agent.client.cancel({ ...keyed(target, '7-call'), mode: 'kill', graceMs: 60_000, waitMs: 1 });
    const bystander = startBystander();
    await loseTo(bystander.pid, folder, agent);

    const next = await AgentProcess.start(folder, { words: wordsFor(tree) });
    expect(await next.client.probe(keyed(target, '7-call'))).toMatchObject({ state: 'lost' });
    for (let times = 0; times < 2; times++) {
      const canceled = await next.client.cancel({ ...keyed(target, '7-call'), mode: 'kill', graceMs: 0 });
      expect(canceled).toMatchObject({ state: 'lost', survivors: [] });
    }
    expect([bystander.child.exitCode, bystander.child.signalCode]).toEqual([null, null]);
    expect(readIdentity(bystander.pid)?.state).toBe('S');
    expect(countRuns(folder, '7-call')).toBe(1);
  });
}

const NAMESPACE_WORDS = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'] as const;
const [unshare, ...unshareWords] = NAMESPACE_WORDS;
const mayUnshare = spawnSync(unshare, [...unshareWords, 'true']).status === 0;

test.runIf(isCgroupUsable && mayUnshare)(
  'B05, A2: an agent in another pid namespace stops the command by its cgroup, where the recorded pid means nothing',
  async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder);
    const target = await agent.target();
    await agent.client.start(startRequest(target, '7-call', 'touch up; sleep 300'));
    await untilMade(folder, 'up');
    await agent.kill();
    const next = await AgentProcess.start(folder, { launcher: NAMESPACE_WORDS });
    expect(await next.client.probe(keyed(target, '7-call'))).toMatchObject({ state: 'running' });
    const canceled = await next.client.cancel({ ...keyed(target, '7-call'), mode: 'kill', graceMs: 20_000 });
    expect(canceled).toMatchObject({ state: 'exited', exit: { code: 137, killedBy: 'cancel' }, survivors: [] });
    expect(listWorkingIn(folder)).toEqual([]);
  },
);

describe.runIf(isCgroupUsable)('A2: another cgroup under the recorded name', () => {
  test('B07: is neither killed nor removed, whatever lives in it', async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder);
    const target = await agent.target();
    await agent.client.start(startRequest(target, '7-call', 'touch up; exec sleep 300'));
    await untilMade(folder, 'up');
    const [cgroup = ''] = listCommandCgroups(target.agentId);
    const bystander = startBystander();
    await loseTo(bystander.pid, folder, agent);
    await waitUntil('the cgroup can be replaced', () => {
      try {
        rmdirSync(cgroup);
        return true;
      } catch {
        return false;
      }
    });
    mkdirSync(cgroup);
    writeFileSync(join(cgroup, 'cgroup.procs'), String(bystander.pid));

    const next = await AgentProcess.start(folder);
    const canceled = await next.client.cancel({ ...keyed(target, '7-call'), mode: 'kill', graceMs: 0 });
    expect(canceled).toMatchObject({ state: 'lost', survivors: [] });
    expect(readIdentity(bystander.pid)?.state).toBe('S');
    bystander.child.kill('SIGKILL');
    await waitUntil('the bystander is gone', () => bystander.child.signalCode !== null);
    await next.kill('SIGTERM');
    expect(listCommandCgroups(target.agentId)).toEqual([cgroup]);
    rmdirSync(cgroup);
  });

  test('A2: an agent restarted from inside one of its own commands does not die with that command', async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder);
    const target = await agent.target();
    await agent.client.start(startRequest(target, '8-host', 'touch up; while :; do sleep 0.1; done'));
    await untilMade(folder, 'up');
    const [cgroup = ''] = listCommandCgroups(target.agentId);
    await agent.kill();
    // As if the command had started it: by a shell that has entered the command's cgroup.
    const next = await AgentProcess.start(folder, {
      launcher: ['sh', '-c', `echo 0 > '${cgroup}/cgroup.procs'; exec "$@"`, 'sh'],
    });
    await next.client.start(
      startRequest(target, '9-other', 'touch other; while ! [ -e go ]; do sleep 0.05; done; exit 7'),
    );
    await untilMade(folder, 'other');
    const canceled = await next.client.cancel({ ...keyed(target, '8-host'), mode: 'kill', graceMs: 1000 });
    expect(canceled).toMatchObject({ state: 'exited', exit: { killedBy: 'cancel' }, survivors: [] });
    writeFileSync(join(folder.workspace, 'go'), '');
    const end = await waitUntil('the other command has ended', async () => {
      const answer = await next.client.probe(keyed(target, '9-other'));
      return answer.state === 'running' ? undefined : answer;
    });
    expect(end).toMatchObject({ state: 'exited', exit: { code: 7 } });
  });
});
