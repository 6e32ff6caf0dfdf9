/** The danger: the agent restarts while a keeper may still claim or exec. Nothing that can still run is called void. */
import { spawn, spawnSync } from 'node:child_process';
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
import type { KeeperPoint } from '../../fixtures/gated-keeper.ts';
import { GatedKeeper } from '../../fixtures/gated-keeper.ts';
import { findMarked } from '../../fixtures/processes.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

const canMakeNamespaces = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;

/** A keeper whose claim stays empty, as when it dies, or is seen, between making and writing it. */
function withEmptyClaim(script: string): string {
  const changed = script.replace(`{ printf 'keeper %s %s .\\n' "$pid" "$start" > claim; }`, '{ : > claim; }');
  if (changed === script) throw new Error('keeper.sh writes its claim in another way');
  return changed;
}

async function killAgentAtGate(point: KeeperPoint, change?: (text: string) => string) {
  const folder = makeAgentFolder();
  const keeper = new GatedKeeper(folder.root, point, change);
  const doomed = await AgentProcess.start(folder, { env: keeper.env });
  const target = await doomed.target();
  const request = startRequest(target, '8-call', logged(folder, '8-call', 'echo out; exit 7'), { waitMs: 0 });
  await expect(doomed.client.start(request)).rejects.toMatchObject({ code: 'start_pending' });
  const standing = await keeper.reached();
  await doomed.kill();
  return { folder, keeper, target, request, standing };
}

const CLAIMED: [string, KeeperPoint, ((text: string) => string) | undefined][] = [
  ['with its claim', 'after-claim', undefined],
  ['with an empty claim', 'after-claim', withEmptyClaim],
  ['just before its child writes `started`', 'before-started', undefined],
];

describe('L04: the agent killed just after launch, while the keeper has its claim and holds the FIFO', () => {
  for (const [how, point, change] of CLAIMED) {
    test(`D08: a keeper that stands ${how} over an agent restart is pending, never void, and runs once`, async () => {
      const { folder, keeper, target, request } = await killAgentAtGate(point, change);
      const agent = await AgentProcess.start(folder, { env: keeper.env });
      expect(await agent.client.probe(keyed(target, '8-call'))).toMatchObject({ state: 'pending' });
      await expect(agent.client.start(request)).rejects.toMatchObject({ code: 'start_pending' });
      await keeper.open();
      expect(await awaitEnd(agent.client, target, '8-call')).toMatchObject({ exit: { code: 7 }, text: 'out\n' });
      expect(await agent.client.start(request)).toMatchObject({ outcome: 'attached', launches: 1 });
      expect(countRuns(folder, '8-call')).toBe(1);
    });
  }
});

describe.skipIf(!canMakeNamespaces)('L05: the same in another pid namespace, where identity says nothing', () => {
  test('D08: a keeper with an empty claim is pending, never void, and runs once', async () => {
    const { folder, keeper, target, request } = await killAgentAtGate('after-claim', withEmptyClaim);
    const launcher = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const agent = await AgentProcess.start(folder, { env: keeper.env, launcher });
    expect(await agent.client.probe(keyed(target, '8-call'))).toMatchObject({ state: 'pending' });
    await keeper.open();
    expect(await awaitEnd(agent.client, target, '8-call')).toMatchObject({ exit: { code: 7 }, text: 'out\n' });
    expect(await agent.client.start(request)).toMatchObject({ outcome: 'attached', launches: 1 });
    expect(countRuns(folder, '8-call')).toBe(1);
  });
});

describe("L06: a keeper killed between fork and its child's `started`", () => {
  test('D08: leaves the key pending, never void, while the child can still exec; one run', async () => {
    const { folder, keeper, target, request, standing } = await killAgentAtGate('before-started');
    const keeperPid = findMarked(keeper.script).find(({ pid }) => isParentOf(pid, standing))?.pid;
    if (keeperPid === undefined) throw new Error('no keeper found');
    process.kill(keeperPid, 'SIGKILL');
    const agent = await AgentProcess.start(folder, { env: keeper.env });
    expect(await agent.client.probe(keyed(target, '8-call'))).toMatchObject({ state: 'pending' });
    await expect(agent.client.start(request)).rejects.toMatchObject({ code: 'start_pending' });
    await keeper.open();
    // The command runs, but nobody is left to learn its exit code.
    const end = await awaitEnd(agent.client, target, '8-call');
    expect(end).toMatchObject({ state: 'lost', text: 'out\n' });
    expect(countRuns(folder, '8-call')).toBe(1);
    expect(await agent.client.start(request)).toMatchObject({ outcome: 'attached', state: 'lost' });
  });
});

test('D08: a keeper that had not claimed loses to the restarted agent and runs nothing; a new start runs once', async () => {
  const { folder, keeper, target, request, standing } = await killAgentAtGate('before-claim');
  const agent = await AgentProcess.start(folder);
  expect(await agent.client.probe(keyed(target, '8-call'))).toMatchObject({ state: 'void' });
  await keeper.open();
  await waitUntil('the late keeper has left', () => !findMarked(keeper.script).some(({ pid }) => pid === standing));
  expect(countRuns(folder, '8-call')).toBe(0);
  expect(await agent.client.start({ ...request, waitMs: 10_000 })).toMatchObject({ outcome: 'started', launches: 2 });
  await awaitEnd(agent.client, target, '8-call');
  expect(countRuns(folder, '8-call')).toBe(1);
});

describe('L08: an interrupt on a pending start takes its claim, and a second start arrives', () => {
  describe('B09: the key is fenced and runs nothing; the keeper hangs on and wedges nothing', () => {
    test('B02: the key is fenced and runs nothing; the keeper hangs on and wedges nothing', async () => {
      const folder = makeAgentFolder();
      const keeper = new GatedKeeper(folder.root, 'before-claim');
      const agent = await AgentProcess.start(folder, { env: keeper.env });
      const target = await agent.target();
      const request = startRequest(target, '2-call', logged(folder, '2-call'), { waitMs: 0 });
      await expect(agent.client.start(request)).rejects.toMatchObject({ code: 'start_pending' });
      const standing = await keeper.reached();
      const began = performance.now();
      expect(await agent.client.cancel({ ...keyed(target, '2-call'), mode: 'kill' })).toMatchObject({
        state: 'fenced',
      });
      expect(performance.now() - began).toBeLessThan(2000);
      await expect(agent.client.start(request)).rejects.toMatchObject({ code: 'canceled' });
      await keeper.open();
      await waitUntil('the late keeper has left', () => !findMarked(keeper.script).some(({ pid }) => pid === standing));
      await agent.kill();
      const next = await AgentProcess.start(folder);
      await expect(next.client.start(request)).rejects.toMatchObject({ code: 'canceled' });
      expect(countRuns(folder, '2-call')).toBe(0);
    });
  });
});

test('B02: a cancel that loses the claim kills what won it, and leaves nothing over', async () => {
  const folder = makeAgentFolder();
  const keeper = new GatedKeeper(folder.root, 'after-claim');
  const agent = await AgentProcess.start(folder, { env: keeper.env });
  const target = await agent.target();
  const request = startRequest(target, '3-call', logged(folder, '3-call', 'sleep 60'), { waitMs: 0 });
  await agent.client.start(request).catch(() => undefined);
  await keeper.reached();
  const canceling = agent.client.cancel({ ...keyed(target, '3-call'), mode: 'kill', waitMs: 15_000 });
  await keeper.open();
  expect(await canceling).toMatchObject({ state: 'exited', exit: { killedBy: 'cancel' }, survivors: [] });
  await waitUntil('nothing is left over', () => findMarked(join(folder.state, 'commands')).length === 0);
  expect(countRuns(folder, '3-call')).toBeLessThanOrEqual(1);
});

test('B09, K6: the agent killed between the wish to fence and the claim fences at its restart', async () => {
  const folder = makeAgentFolder();
  const keeper = new GatedKeeper(folder.root, 'before-claim');
  const doomed = await AgentProcess.start(folder, { env: { ...keeper.env, LATCHKEY_CRASH_AT: 'before-fence-claim' } });
  const target = await doomed.target();
  const request = startRequest(target, '4-call', logged(folder, '4-call'), { waitMs: 0 });
  await doomed.client.start(request).catch(() => undefined);
  await keeper.reached();
  await doomed.client.cancel({ ...keyed(target, '4-call'), mode: 'fence' }).catch(() => undefined);
  await doomed.ended();
  const agent = await AgentProcess.start(folder);
  expect(await agent.client.probe(keyed(target, '4-call'))).toMatchObject({ state: 'fenced' });
  await keeper.open();
  await expect(agent.client.start(request)).rejects.toMatchObject({ code: 'canceled' });
  expect(countRuns(folder, '4-call')).toBe(0);
});

test('L07: a backup that reads the FIFO is not taken for a keeper, and is not disturbed', async () => {
  const { folder, target, request, standing } = await killAgentAtGate('after-claim');
  for (const { pid } of findMarked(folder.state)) process.kill(pid, 'SIGKILL');
  await waitUntil('the keeper is gone', () => !findMarked(folder.root).some(({ pid }) => pid === standing));
  const alive = join(folder.state, 'commands', '1.1', 'alive');
  const stranger = spawn('cat', [alive], { stdio: 'ignore' });
  try {
    const agent = await AgentProcess.start(folder);
    expect(await agent.client.probe(keyed(target, '8-call'))).toMatchObject({ state: 'void' });
    expect(await agent.client.start({ ...request, waitMs: 10_000 })).toMatchObject({ launches: 2 });
    await awaitEnd(agent.client, target, '8-call');
    expect(countRuns(folder, '8-call')).toBe(1);
    expect(stranger.exitCode).toBeNull();
  } finally {
    stranger.kill('SIGKILL');
  }
});

function isParentOf(parent: number, child: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'ppid=', '-p', String(child)], { encoding: 'utf8' });
  return Number(stdout.trim()) === parent;
}
