/** The danger: who ended a command is told wrong, so that a crash reads as a cancel or a cancel as a crash. */
import { expect, test } from 'vitest';
import { AgentProcess, awaitEnd, keyed, makeAgentFolder, startRequest } from '../../fixtures/agent-process.ts';
import { isMemoryCounted, readStartedPid, TREES, untilMade, wordsFor } from '../../fixtures/command-trees.ts';

for (const tree of TREES) {
  test(`B06: a signal of its own, a kill from outside, our time limit, a cancel and a signal on request are told apart, by ${tree}`, async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder, { words: wordsFor(tree) });
    const target = await agent.target();
    const start = async (name: string, command: string, killAfterMs?: number) => {
      const answer = await agent.client.start(
        startRequest(target, `1-${name}`, command, killAfterMs === undefined ? {} : { killAfterMs }),
      );
      if (answer.outcome === 'absent') throw new Error('the start was not taken');
      return answer.handle;
    };
    const wait = (name: string): string => `touch ${name}; exec sleep 300`;
    await start('own', 'kill -9 $$');
    await start('own-segv', 'kill -SEGV $$');
    await start('outside', wait('outside'));
    await start('limit', wait('limit'), 500);
    await start('cancel', wait('cancel'));
    const requested = await start('requested', wait('requested'));
    for (const name of ['outside', 'limit', 'cancel', 'requested']) await untilMade(folder, name);
    // Rows are numbered in the order of the starts.
    process.kill(readStartedPid(folder, 3), 'SIGKILL');
    await agent.client.cancel({ ...keyed(target, '1-cancel'), mode: 'kill' });
    const { chatId } = keyed(target, '1-requested');
    await agent.client.signal({ target, chatId, handle: requested, id: 's1', signal: 'SIGINT' });
    const endOf = async (name: string) => {
      const { exit } = await awaitEnd(agent.client, target, `1-${name}`);
      return [exit?.code, exit?.signal, exit?.killedBy];
    };
    expect(await endOf('own')).toEqual([137, 'SIGKILL', undefined]);
    expect(await endOf('own-segv')).toEqual([139, 'SIGSEGV', undefined]);
    expect(await endOf('outside')).toEqual([137, 'SIGKILL', undefined]);
    expect(await endOf('limit')).toEqual([143, 'SIGTERM', 'kill_after']);
    expect(await endOf('cancel')).toEqual([143, 'SIGTERM', 'cancel']);
    expect(await endOf('requested')).toEqual([130, 'SIGINT', 'signal']);
  });

  test(`B06: a signal that was survived does not explain a later end, and a cancel after it is a cancel, by ${tree}`, async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder, { words: wordsFor(tree) });
    const target = await agent.target();
    const handles = [];
    for (const name of ['real', 'canceled']) {
      const command = `trap '' INT; touch ${name}; while ! [ -e go ]; do sleep 0.05; done; exit 5`;
      const answer = await agent.client.start(startRequest(target, `1-${name}`, command));
      if (answer.outcome === 'absent') throw new Error('the start was not taken');
      handles.push(answer.handle);
      await untilMade(folder, name);
    }
    const { chatId } = keyed(target, '1-real');
    for (const handle of handles) {
      await agent.client.signal({ target, chatId, handle, id: 's1', signal: 'SIGINT', waitMs: 1 });
    }
    const canceled = await agent.client.cancel({ ...keyed(target, '1-canceled'), mode: 'kill' });
    expect(canceled.exit).toMatchObject({ code: 143, killedBy: 'cancel' });
    await agent.client.start(startRequest(target, '2-go', 'touch go'));
    const { exit } = await awaitEnd(agent.client, target, '1-real');
    expect([exit?.code, exit?.killedBy]).toEqual([5, undefined]);
  });
}

const SKIPPED =
  'SKIPPED: this machine does not count deaths for lack of memory per cgroup (v2), so nobody can tell them';
test.skipIf(isMemoryCounted)(`B06: ${SKIPPED}`, () => {
  expect(isMemoryCounted).toBe(false);
});

test.runIf(isMemoryCounted)('B06: a death for lack of memory is told as one', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  const target = await agent.target();
  // The command sets the limit itself, in the cgroup that it was put into, and then fills a variable.
  const limit = `mount=$(awk '$9 == "cgroup2" || $10 == "cgroup2" { print $5; exit }' /proc/self/mountinfo)
    echo 30M > "$mount$(sed -n 's/^0:://p' /proc/self/cgroup)/memory.max"`;
  await agent.client.start(startRequest(target, '1-call', `${limit}; exec tail -c 300M /dev/zero`));
  const end = await awaitEnd(agent.client, target, '1-call');
  expect(end).toMatchObject({ exit: { code: 137 }, reason: expect.stringContaining('lack of memory') });
  expect(end.exit?.killedBy).toBeUndefined();
});
