/** The danger: the model's own commands, and the machine beneath. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
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
import { waitUntil } from '../../fixtures/wait-until.ts';

const canMakeNamespaces = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0;
if (!canMakeNamespaces) console.warn('SKIPPED: I11 and L13 need pid namespaces (root)');
const JOURNAL = ['journal.db', 'journal.db-wal'];
const NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

test.skipIf(!canMakeNamespaces)(
  'I11: commands that kill whatever they can, or delete where they are, end with a true or unknown result, and the workspace recovers',
  async () => {
    const folder = makeAgentFolder();
    // Process 1 of the namespace brings the agent back, as systemd would; a signal from inside doesn't reach it.
    const supervisor = [...NAMESPACE, 'sh', '-c', 'while :; do "$@"; sleep 0.2; done', 'supervisor'];
    const agent = await AgentProcess.start(folder, { launcher: supervisor });
    const target = await agent.target();
    const hostile: [string, string][] = [
      ['1-node', 'pkill -9 -f agent/main; sleep 0.5; exit 5'],
      ['2-sh', 'pkill -9 sh; sleep 0.5; exit 6'],
      ['3-all', 'kill -9 -1; sleep 0.5; exit 7'],
      ['4-workdir', 'mkdir -p d && cd d && rm -rf ../d; exit 8'],
    ];
    for (const [key, command] of hostile) {
      const request = startRequest(target, key, logged(folder, key, command));
      await agent.client.start(request).catch(() => undefined);
      const end = await waitUntil(`${key} has ended`, async () => {
        const answer = await agent.client.output({ ...keyed(target, key), waitMs: 500 }).catch(() => undefined);
        return answer?.state === 'exited' || answer?.state === 'lost' ? answer : undefined;
      });
      // What is told is true: a code only when the keeper lived to see it.
      if (end.state === 'exited') expect(end.exit?.code).toBeGreaterThan(0);
      else expect(end.reason).toBeDefined();
      expect(countRuns(folder, key)).toBe(1);
      expect(await agent.client.start(request)).toMatchObject({ outcome: 'attached' });
      const alive = `${key}-alive`;
      await agent.client.start(startRequest(target, alive, 'echo alive'));
      expect((await awaitEnd(agent.client, target, alive)).text).toBe('alive\n');
    }
  },
);

describe('L13: a container restart in one boot, the volume restored meanwhile', () => {
  test.skipIf(!canMakeNamespaces)('K1: a key that ran is doubtful, and runs nothing', async () => {
    const folder = makeAgentFolder();
    const first = await AgentProcess.start(folder, { launcher: NAMESPACE });
    await first.kill();
    for (const name of JOURNAL) copyFileSync(join(folder.state, name), join(folder.root, name));

    const second = await AgentProcess.start(folder, { launcher: NAMESPACE });
    const target = await second.target();
    const request = startRequest(target, '13-call', logged(folder, '13-call'));
    await second.client.start(request);
    await awaitEnd(second.client, target, '13-call');
    await second.kill();
    // Restored in place: the sentinel stays, the sequence witness went with the container's memory.
    rmSync(join(folder.state, 'journal.db-shm'), { force: true });
    for (const name of JOURNAL) copyFileSync(join(folder.root, name), join(folder.state, name));
    rmSync(folder.runtime, { recursive: true });
    mkdirSync(folder.runtime);

    const third = await AgentProcess.start(folder, { launcher: NAMESPACE });
    expect((await third.target()).incarnation).not.toBe(target.incarnation);
    await expect(third.client.start(request)).rejects.toMatchObject({ code: 'journal_doubtful' });
    await expect(third.client.start(request)).rejects.toMatchObject({ code: 'canceled' });
    expect(countRuns(folder, '13-call')).toBe(1);
  });
});

const hasLoopDevices =
  process.getuid?.() === 0 &&
  spawnSync('losetup', ['-f']).status === 0 &&
  spawnSync('which', ['mkfs.ext4']).status === 0;
if (!hasLoopDevices) console.warn('SKIPPED: L12 needs loop devices (root)');

test.skipIf(!hasLoopDevices)(
  'L12: a disk that comes back under another device number is the same: the agent starts, nothing is lost',
  async () => {
    const folder = makeAgentFolder();
    const image = join(folder.root, 'disk.img');
    execFileSync('truncate', ['-s', '128M', image]);
    execFileSync('mkfs.ext4', ['-q', image]);
    mkdirSync(folder.state);
    const attached: string[] = [];
    const detach = (): void => {
      spawnSync('umount', [folder.state]);
      for (const device of attached.splice(0)) spawnSync('losetup', ['-d', device]);
    };
    onTestFinished(detach);
    const attach = (): number => {
      const device = execFileSync('losetup', ['--find', '--show', image], { encoding: 'utf8' }).trim();
      attached.push(device);
      execFileSync('mount', [device, folder.state]);
      return Number(execFileSync('stat', ['-c', '%d', folder.state], { encoding: 'utf8' }));
    };
    const firstDevice = attach();
    const env = { LATCHKEY_FREE_DISK_BYTES_MIN: '0' };
    const agent = await AgentProcess.start(folder, { env });
    const target = await agent.target();
    const request = startRequest(target, '12-call', logged(folder, '12-call'));
    await agent.client.start(request);
    await awaitEnd(agent.client, target, '12-call');
    await agent.kill('SIGTERM');
    const [first = ''] = attached;
    spawnSync('umount', [folder.state]);
    // The old number stays taken, so that the disk comes back under the next one.
    const blocker = join(folder.root, 'blocker.img');
    execFileSync('truncate', ['-s', '1M', blocker]);
    spawnSync('losetup', ['-d', first]);
    attached.splice(0);
    attached.push(execFileSync('losetup', ['--find', '--show', blocker], { encoding: 'utf8' }).trim());
    expect(attach()).not.toBe(firstDevice);
    const again = await AgentProcess.start(folder, { env });
    expect(await again.client.start(request)).toMatchObject({ outcome: 'attached', exit: { code: 0 } });
    expect(countRuns(folder, '12-call')).toBe(1);
    await again.kill('SIGTERM');
  },
);

test('L25: what was answered was durable: killed right after each answer, the agent comes back with that commit or a later one', async () => {
  const folder = makeAgentFolder();
  let agent = await AgentProcess.start(folder);
  const target = await agent.target();
  for (let round = 1; round <= 5; round++) {
    const key = `${round}-cut`;
    const request = startRequest(target, key, logged(folder, key, 'sleep 5'));
    const answered = await agent.client.start(request);
    await agent.kill();
    agent = await AgentProcess.start(folder);
    const now = await agent.target();
    expect(now.journalId).toBe(target.journalId);
    expect(now.sequence).toBeGreaterThanOrEqual(answered.sequence);
    expect(await agent.client.start(request)).toMatchObject({ outcome: 'attached', state: 'running' });
    expect(countRuns(folder, key)).toBe(1);
  }
});
