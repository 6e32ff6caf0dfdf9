/** What a person meets who starts the agent wrongly: one clear line with the next step, never a stack trace or a hang. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentFolder } from '../../fixtures/agent-process.ts';
import { AgentProcess, makeAgentFolder } from '../../fixtures/agent-process.ts';

const MAIN = join(import.meta.dirname, '../../../agent/main.ts');

function runAgent(folder: AgentFolder, words: string[], env: Record<string, string> = {}) {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, ...words], {
    encoding: 'utf8',
    timeout: 15_000,
    env: { ...process.env, XDG_RUNTIME_DIR: folder.runtime, ...env },
  });
  return { status, stderr };
}

test('a wrong start of the agent is told in one line that names the setting', () => {
  const folder = makeAgentFolder();
  const state = ['--state', folder.state];
  writeFileSync(join(folder.root, 'file'), '');
  const cases: [string[], RegExp][] = [
    [[], /--state is missing/],
    [['--workspace', '/does/not/exist', ...state], /workspace .*not a folder.*--workspace/],
    [['--workspace', join(folder.root, 'file'), ...state], /not a folder/],
    [['--state', '/proc/nowhere'], /\/proc\/nowhere can't be made.*--state/],
    [['--state', join(folder.root, 'file', 'state')], /can't be made.*--state/],
    [['--nonsense', ...state], /--nonsense/],
    [['stop', ...state], /unknown word "stop"/],
    [['--listen', '127.0.0.1', ...state], /--listen wants HOST:PORT/],
    [['--listen', '127.0.0.1:99999', ...state], /--listen wants HOST:PORT/],
    [['--listen', '127.0.0.1:0', ...state], /LATCHKEY_AGENT_TOKEN/],
    [['--socket', join(folder.root, 'file'), ...state], /not a socket.*--socket/],
    [['--socket', join(folder.root, 'nowhere', 'agent.sock'), ...state], /does not exist \(--socket\)/],
    [['--socket', join(folder.root, 'x'.repeat(120)), ...state], /more than 107 bytes.*--socket/],
  ];
  for (const [words, expected] of cases) {
    const { status, stderr } = runAgent(folder, ['--workspace', folder.workspace, ...words]);
    expect({ words, status }).toEqual({ words, status: 1 });
    expect(stderr).toMatch(expected);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
  }
});

test('a socket or a port where somebody else listens is told as busy', async () => {
  const folder = makeAgentFolder();
  const path = join(folder.root, 'busy.sock');
  const onSocket = createServer().listen(path);
  const onPort = createServer().listen(0, '127.0.0.1');
  try {
    await Promise.all([onSocket, onPort].map((server) => new Promise((done) => server.once('listening', done))));
    const address = onPort.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const base = ['--workspace', folder.workspace, '--state', folder.state];
    const token = { LATCHKEY_AGENT_TOKEN: 'secret' };
    // In processes of their own, since the servers above answer from this one.
    const busySocket = AgentProcess.spawn(folder, { words: ['--socket', path] });
    await busySocket.ended();
    expect(busySocket.log).toMatch(/another process listens on/);
    const busyPort = runAgent(folder, [...base, '--listen', `127.0.0.1:${port}`], token);
    expect(busyPort).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/something else listens there already/),
    });
  } finally {
    onSocket.close();
    onPort.close();
  }
});

test('on TCP the agent wants its token, and with it answers', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder, {
    env: { LATCHKEY_AGENT_TOKEN: 'secret' },
    words: ['--listen', '127.0.0.1:0'],
  });
  const address = /http:\/\/\S+/.exec(agent.log)?.[0] ?? '';
  const ask = (headers: Record<string, string>) =>
    fetch(`${address}/v1/info`, { method: 'POST', body: '{"protocol":1}', headers });
  expect((await ask({})).status).toBe(401);
  expect((await ask({ authorization: 'Bearer wrong' })).status).toBe(401);
  expect((await ask({ authorization: 'Bearer secret' })).status).toBe(200);
});

test('a socket file left by a killed agent is no obstacle, and SIGTERM ends the agent cleanly', async () => {
  const folder = makeAgentFolder();
  mkdirSync(join(folder.root, 'other'));
  const killed = await AgentProcess.start(folder);
  await killed.kill();
  const agent = await AgentProcess.start(folder);
  await agent.kill('SIGTERM');
  expect(agent.child.exitCode).toBe(0);
});
