import type { NativeConnection } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import type { AgentId, Incarnation } from '../../../contract/ids.ts';
import { executeWorkerIdentity, requireSoleIncarnation } from '../../../workers/require-sole-incarnation.ts';

const OURS = { agentId: 'a-1' as AgentId, incarnation: 'aaaaaaaaaaaaaaaa' as Incarnation };
const THEIRS = { ...OURS, incarnation: 'bbbbbbbbbbbbbbbb' as Incarnation };

interface Poller {
  readonly identity: string;
  readonly agoMs: number;
}

/** Shows the pollers of each look in turn; the last ones stay. */
function serverWith(looks: readonly (readonly Poller[])[], error?: Error): NativeConnection {
  let look = 0;
  const describeTaskQueue = ({ taskQueue }: { taskQueue: { name: string } }) => {
    if (error !== undefined) return Promise.reject(error);
    const pollers = looks[Math.min(look, looks.length - 1)] ?? [];
    if (taskQueue.name.endsWith('-control')) look++;
    const lastAccess = (agoMs: number) => ({ seconds: Math.floor((Date.now() - agoMs) / 1000), nanos: 0 });
    return Promise.resolve({
      pollers: pollers.map(({ identity, agoMs }) => ({ identity, lastAccessTime: lastAccess(agoMs) })),
    });
  };
  return { workflowService: { describeTaskQueue } } as unknown as NativeConnection;
}

function check(connection: NativeConnection, pollerSilenceMs: number, stopping = new AbortController().signal) {
  const lines: string[] = [];
  const report = (line: string) => void lines.push(line);
  const done = requireSoleIncarnation(connection, { ...OURS, namespace: 'n', stopping, report, pollerSilenceMs });
  return { done, lines };
}

describe('who polls the queues of an agent', () => {
  test('workers of this machine and of other agents are no reason to wait', async () => {
    const other = executeWorkerIdentity({ ...THEIRS, agentId: 'a-2' as AgentId });
    const pollers = [executeWorkerIdentity(OURS), other, 'turn@1'].map((identity) => ({ identity, agoMs: 0 }));
    const { done, lines } = check(serverWith([pollers]), 60_000);
    await done;
    expect(lines).toEqual([]);
  });

  test('another incarnation that polls while we watch is refused with what to do (part of L17)', async () => {
    const identity = executeWorkerIdentity(THEIRS);
    const { done, lines } = check(serverWith([[{ identity, agoMs: 30_000 }], [{ identity, agoMs: 0 }]]), 60_000);
    await expect(done).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringMatching(/two machines share one agent.*latchkey agent adopt.*on the copy/) as string,
    });
    expect(lines).toHaveLength(1);
  });

  test('a worker of the machine before its restart is waited out, not taken for another machine', async () => {
    const gone = { identity: executeWorkerIdentity(THEIRS), agoMs: 600_000 };
    const { done, lines } = check(serverWith([[gone]]), 60_000);
    await done;
    expect(lines).toEqual([]);
  });

  test('a server that will not tell is told of, and no reason to stop', async () => {
    const { done, lines } = check(serverWith([], Object.assign(new Error('no'), { code: 7 })), 60_000);
    await done;
    expect(lines.join('\n')).toMatch(/can't see who else polls/);
  });

  test('a stop ends the waiting', async () => {
    const stopping = new AbortController();
    const poller = { identity: executeWorkerIdentity(THEIRS), agoMs: 10_000 };
    const { done } = check(serverWith([[poller]]), 60_000, stopping.signal);
    const reason = new Error('stopped');
    stopping.abort(reason);
    await expect(done).rejects.toBe(reason);
  });
});
