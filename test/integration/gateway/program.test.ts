import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openStore } from '../../../store/open-store.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';
import { watchOverHttp } from '../../fixtures/gateway.ts';
import { makeTemporaryFolder } from '../../unit/store/chat-fixture.ts';

const ROOT = join(import.meta.dirname, '../../..');

function start(
  program: string,
  words: readonly string[],
  env: Record<string, string>,
): { child: ChildProcess; said: () => string } {
  const child = spawn(process.execPath, [join(ROOT, program), ...words], { env: { ...process.env, ...env } });
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return { child, said: () => said };
}

test('the program says where it listens, serves, and ends its streams when it is told to', async () => {
  const store = `sqlite:${join(await makeTemporaryFolder(), 'store.db')}`;
  const env = {
    LATCHKEY_STORE: store,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_NAMESPACE: inject('temporalNamespace'),
    LATCHKEY_GATEWAY_TOKENS: '',
    LATCHKEY_TEMPORAL_UI: 'https://temporal.test/ui/',
  };
  const { child, said } = start('client/latchkey.ts', ['gateway', '--listen', '127.0.0.1:0'], env);
  const url = await waitUntil('it listens', () => /^ready: (\S+)$/m.exec(said())?.[1], {
    deadlineMs: 45_000,
    describe: said,
  });
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ ready: true });
  expect(await (await fetch(`${url}/v1/settings`)).json()).toMatchObject({
    temporalWorkflowsUrl: `https://temporal.test/ui/namespaces/${inject('temporalNamespace')}/workflows`,
  });
  expect(await (await fetch(url)).text()).toContain('/page/main.js');
  expect((await fetch(`${url}/page/main.js`)).headers.get('content-type')).toContain('text/javascript');
  expect(said()).not.toContain('Warning');
  const made = await fetch(`${url}/v1/chats`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chatId: 'one', agentId: 'agent-1', model: 'scripted:none' }),
  });
  expect(await made.json()).toMatchObject({ chat: { chatId: 'one', state: 'idle', model: 'scripted:none' } });
  const opened = await openStore(store);
  onTestFinished(() => opened.close());
  expect(await opened.findChat('one' as never)).toMatchObject({ agentId: 'agent-1' });
  const watcher = watchOverHttp({ url, log: [], stop: async () => undefined }, 'one');
  await watcher.until('it is live', () => watcher.types.includes('live'));
  const second = start('gateway/main.ts', ['--listen', new URL(url).host], env);
  await once(second.child, 'exit');
  expect(second.said()).toMatch(
    /^gateway: LATCHKEY_GATEWAY_LISTEN \(or --listen\) is "[^\n]*": something listens[^\n]*\n$/,
  );
  child.kill('SIGTERM');
  await once(child, 'exit');
  await watcher.leave();
  expect(child.exitCode).toBe(0);
});

test('the program refuses in one line what it was not given', async () => {
  const env = { LATCHKEY_STORE: '', TEMPORAL_ADDRESS: inject('temporalAddress') };
  const { child, said } = start('gateway/main.ts', [], env);
  await once(child, 'exit');
  expect(child.exitCode).toBe(1);
  expect(said()).toMatch(/^gateway: LATCHKEY_STORE \(or --store\) is not set: give the store[^\n]*\n$/);
});
