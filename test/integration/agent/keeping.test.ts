/** Waiters, recorded failures, receipts, the start-up script, limits: what the agent keeps and for how long. */
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  AgentProcess,
  awaitEnd,
  countRuns,
  keyed,
  logged,
  makeAgentFolder,
  startRequest,
} from '../../fixtures/agent-process.ts';
import { GatedKeeper } from '../../fixtures/gated-keeper.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

test('A02: odd tool-call ids start once each, and are probed, read and cancelled by key', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  const target = await agent.target();
  const ids = ['a/b', '%2F', '..', '../../x', 'a b', 'a\nb', `'"`, '日本', '🙂', '-x', '2-x', 'x'.repeat(256), '$(id)'];
  for (const [index, id] of ids.entries()) {
    const key = `${index + 1}-${id}`;
    const request = startRequest(target, key, `echo run-${index} >> '${folder.runLog}'; echo out; sleep 30`);
    await agent.client.start(request);
    await agent.client.start(request);
    const call = keyed(target, key);
    expect(await agent.client.probe(call), key).toMatchObject({ state: 'running' });
    await agent.client.output({ ...call, from: 0, waitMs: 5000 });
    expect(await agent.client.cancel({ ...call, mode: 'kill' }), key).toMatchObject({ exit: { killedBy: 'cancel' } });
    expect((await awaitEnd(agent.client, target, key)).text, key).toBe('out\n');
    expect(countRuns(folder, `run-${index}`), key).toBe(1);
  }
  for (const id of ['x'.repeat(513), 'a\0b', 'a\ud800']) {
    const refused = agent.client.start(startRequest(target, `99-${id}`, 'true'));
    await expect(refused).rejects.toMatchObject({ code: 'bad_request', field: 'key' });
  }
});

test('A06: the fingerprint is of the requested values: it matches when the default workdir has changed', async () => {
  const folder = makeAgentFolder();
  const first = await AgentProcess.start(folder);
  const target = await first.target();
  const request = startRequest(target, '6-call', logged(folder, '6-call', 'pwd'));
  await first.client.start(request);
  await awaitEnd(first.client, target, '6-call');
  await first.kill('SIGTERM');
  const second = await AgentProcess.start({ ...folder, workspace: folder.root });
  expect(await second.client.start(request)).toMatchObject({ outcome: 'attached', exit: { code: 0 } });
  expect(countRuns(folder, '6-call')).toBe(1);
});

test('A08: a failed launch is recorded: every repeat gives the same error, and spawns nothing', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  const target = await agent.target();
  writeFileSync(join(folder.workspace, 'file'), '');
  for (const workdir of ['does/not/exist', 'file']) {
    const key = `8-${workdir}`;
    const request = startRequest(target, key, logged(folder, key), { workdir });
    const first = await agent.client.start(request).catch((error: Error) => error);
    expect(first).toMatchObject({ code: 'spawn_failed', message: expect.stringContaining(workdir) });
    const folders = readdirSync(join(folder.state, 'commands')).length;
    expect(await agent.client.start(request).catch((error: Error) => error)).toEqual(first);
    expect(readdirSync(join(folder.state, 'commands'))).toHaveLength(folders);
    expect(await agent.client.probe(keyed(target, key))).toMatchObject({ state: 'spawn_failed' });
    expect(countRuns(folder, key)).toBe(0);
  }
});

test('A09: a waiter that goes away disturbs neither the owner nor other waiters', async () => {
  const folder = makeAgentFolder();
  const keeper = new GatedKeeper(folder.root, 'after-claim');
  const agent = await AgentProcess.start(folder, { env: keeper.env });
  const target = await agent.target();
  const request = startRequest(target, '9-call', logged(folder, '9-call', 'echo out'), { waitMs: 20_000 });
  const leave = new AbortController();
  const leaver = agent.client.start(request, { signal: leave.signal }).catch(() => 'left');
  const stayer = agent.client.start(request);
  await keeper.reached();
  leave.abort();
  expect(await leaver).toBe('left');
  await keeper.open();
  expect(await stayer).toMatchObject({ state: expect.stringMatching(/running|exited/) });
  expect((await awaitEnd(agent.client, target, '9-call')).text).toBe('out\n');
  expect(countRuns(folder, '9-call')).toBe(1);
});

test('A09: an agent that closes answers its waiters with `start_pending`, never with "failed"', async () => {
  const folder = makeAgentFolder();
  const keeper = new GatedKeeper(folder.root, 'after-claim');
  const agent = await AgentProcess.start(folder, { env: keeper.env });
  const target = await agent.target();
  const request = startRequest(target, '9-call', logged(folder, '9-call'), { waitMs: 20_000 });
  const waiter = agent.client.start(request).catch((error: Error) => error);
  await keeper.reached();
  await agent.kill('SIGTERM');
  expect(await waiter).toMatchObject({ code: 'start_pending' });
  await keeper.open();
  const next = await AgentProcess.start(folder);
  expect(await next.client.start(request)).toMatchObject({ outcome: 'attached' });
  expect(countRuns(folder, '9-call')).toBe(1);
});

test('A11: after its output a receipt answers with the true exit; after the cutoff the key is expired; it never runs again', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder, { words: ['--keep-output', '300ms', '--keep-receipt', '2s'] });
  const target = await agent.target();
  const request = startRequest(target, '11-call', logged(folder, '11-call', 'echo output; exit 6'));
  const started = await agent.client.start(request);
  await waitUntil('the output is dropped', () => !existsSync(join(folder.state, 'commands', '1.1')));
  const receipt = await agent.client.output({ ...keyed(target, '11-call'), view: { headBytes: 100, tailBytes: 100 } });
  expect(receipt).toMatchObject({ exit: { code: 6 }, total: 7, dropped: [[0, 7]], view: { omitted: 7 } });
  expect(await agent.client.start(request)).toMatchObject({ outcome: 'attached', exit: { code: 6 } });
  await waitUntil('the receipt is dropped', async () => {
    return (await agent.client.probe(keyed(target, '11-call'))).state === 'expired';
  });
  await expect(agent.client.start(request)).rejects.toMatchObject({ code: 'expired', chatHighestMessageId: 11 });
  expect(await agent.client.cancel({ ...keyed(target, '11-call'), mode: 'fence' })).toMatchObject({ state: 'expired' });
  // A message that came later is not covered by the cutoff.
  expect(await agent.client.start(startRequest(target, '12-call', 'true'))).toMatchObject({ outcome: 'started' });
  expect(started.outcome).toBe('started');
  expect(countRuns(folder, '11-call')).toBe(1);
});

test('L27: a key under the cutoff whose packet comes late is expired and runs nothing, and no cutoff passes an open row', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder, { words: ['--keep-output', '200ms', '--keep-receipt', '200ms'] });
  const target = await agent.target();
  await agent.client.start(startRequest(target, '3-open', 'sleep 30'));
  await agent.client.start(startRequest(target, '2-old', 'true'));
  await agent.client.start(startRequest(target, '5-newer', 'true'));
  await waitUntil('the old row is dropped', async () => {
    return (await agent.client.probe(keyed(target, '2-old'))).state === 'expired';
  });
  const late = startRequest(target, '1-late', logged(folder, '1-late'));
  await expect(agent.client.start(late)).rejects.toMatchObject({ code: 'expired' });
  // Message 5 ended as long ago, but message 3 is open beneath it: its row stays, and so does its exit.
  expect(await agent.client.probe(keyed(target, '5-newer'))).toMatchObject({ state: 'exited' });
  expect(await agent.client.probe(keyed(target, '4-never-seen'))).toMatchObject({ state: 'absent' });
  expect(countRuns(folder, '1-late')).toBe(0);
});

test('A13: an agent refuses what it does not know, so that no older one can ignore a key', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  const target = await agent.target();
  const request = startRequest(target, '13-call', logged(folder, '13-call'));
  const newer = { ...request, idempotencyMode: 'strict' } as typeof request;
  await expect(agent.client.start(newer)).rejects.toMatchObject({ code: 'bad_request', field: 'idempotencyMode' });
  expect(countRuns(folder, '13-call')).toBe(0);
});

test('I13: while the start-up script runs a command waits for it, or is told "not ready"; it runs once per incarnation', async () => {
  const folder = makeAgentFolder();
  const script = join(folder.root, 'startup.sh');
  writeFileSync(
    script,
    `#!/bin/sh\necho startup >> '${folder.runLog}'\nwhile [ ! -e '${folder.root}/go' ]; do sleep 0.05; done\nexit 3\n`,
  );
  chmodSync(script, 0o755);
  const words = ['--startup', script];
  const doomed = await AgentProcess.start(folder, { words });
  const target = await doomed.target();
  await waitUntil('the script runs', () => countRuns(folder, 'startup') === 1);
  await doomed.kill();

  const agent = await AgentProcess.start(folder, { words });
  expect(await agent.client.info({})).toMatchObject({ ready: false, startup: { state: 'running' } });
  const request = startRequest(target, '13-call', logged(folder, '13-call'));
  await expect(agent.client.start({ ...request, waitMs: 50 })).rejects.toMatchObject({ code: 'not_ready' });
  const patient = agent.client.start({ ...request, waitMs: 20_000 });
  writeFileSync(join(folder.root, 'go'), '');
  expect(await patient).toMatchObject({ outcome: 'started' });
  expect(await agent.client.info({})).toMatchObject({ ready: true, startup: { state: 'ended', exitCode: 3 } });
  await awaitEnd(agent.client, target, '13-call');
  await agent.kill();
  const third = await AgentProcess.start(folder, { words });
  await waitUntil('the third agent is ready', async () => (await third.client.info({})).ready);
  expect(countRuns(folder, 'startup')).toBe(1);
  expect(countRuns(folder, '13-call')).toBe(1);
});

test('a chat that has all its open commands is told to wait, another chat is not', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  const target = await agent.target();
  const { limits } = await agent.client.info({});
  const openMax = limits['openPerChatMax'] ?? 0;
  expect(openMax).toBeGreaterThan(10);
  await Promise.all(
    Array.from({ length: openMax }, (_, index) =>
      agent.client.start(startRequest(target, `${index + 1}-open`, 'sleep 60', { waitMs: 30_000 })),
    ),
  );
  const more = startRequest(target, '900-more', 'true');
  await expect(agent.client.start(more)).rejects.toMatchObject({ code: 'too_busy' });
  expect(await agent.client.probe(keyed(target, '900-more'))).toMatchObject({ state: 'absent' });
  expect(await agent.client.start({ ...more, chatId: 'other' as never })).toMatchObject({ outcome: 'started' });
});

test('R18: degenerate commands end as bash ends them, and a lone trailing & starts in the background', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  const target = await agent.target();
  const exits: [string, number, string][] = [
    ['# only a note', 0, ''],
    ['exit 3', 3, ''],
    ['set -e; false; echo no', 1, ''],
    ['exit 300', 44, ''],
  ];
  for (const [index, [command, code, text]] of exits.entries()) {
    const key = `${index + 1}-r18`;
    await agent.client.start(startRequest(target, key, command));
    expect(await awaitEnd(agent.client, target, key), command).toMatchObject({ exit: { code }, text });
    await agent.client.start(startRequest(target, `${index + 1}-alive`, 'echo alive'));
    expect((await awaitEnd(agent.client, target, `${index + 1}-alive`)).text).toBe('alive\n');
  }
  await agent.client.start(startRequest(target, '20-syntax', 'sleep 0 &; echo x'));
  const syntax = await awaitEnd(agent.client, target, '20-syntax');
  expect(syntax.exit?.code).toBe(2);
  expect(syntax.text).toMatch(/syntax error/);
  expect(syntax.text).not.toMatch(/latchkey|keeper|setsid/i);
  const background = await agent.client.start(startRequest(target, '21-background', 'sleep 1; exit 4 &'));
  expect(background).toMatchObject({ outcome: 'started', background: true, state: 'running' });
  expect((await awaitEnd(agent.client, target, '21-background')).exit?.code).toBe(4);
});

test('R21: commands up to 256 KiB run, longer than an argument too; beyond, the limit is named', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  const target = await agent.target();
  const commands = [
    `echo ok #${'x'.repeat(131_071 - 9)}`,
    `echo ok #${'x'.repeat(131_072 - 9)}`,
    `echo ok #${'界'.repeat(43_691)}`,
    `cat > big <<'EOF'\n${'y'.repeat(200_000)}\nEOF\nwc -c < big; echo ok`,
  ];
  for (const [index, command] of commands.entries()) {
    const key = `${index + 1}-long`;
    await agent.client.start(startRequest(target, key, command));
    const end = await awaitEnd(agent.client, target, key);
    expect(end.exit?.code, key).toBe(0);
    expect(end.text, key).toMatch(/ok\n$/);
  }
  const tooLong = agent.client.start(startRequest(target, '9-long', 'x'.repeat(1024 * 1024)));
  await expect(tooLong).rejects.toMatchObject({ code: 'bad_request', field: 'command' });
  await expect(tooLong).rejects.toThrow(/262144 bytes/);
  expect(await agent.client.probe(keyed(target, '9-long'))).toMatchObject({ state: 'absent' });
});
