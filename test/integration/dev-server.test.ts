import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { defineSearchAttributeKey } from '@temporalio/common';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { findFailureCode } from '../../contract/failures.ts';
import { connectClient, connectWorker } from '../../tools/temporal/connection.ts';
import { startDevServer, type DevServer, type DevServerRequest } from '../../tools/temporal/dev-server.ts';
import { findDevServer } from '../../tools/temporal/find-dev-server.ts';
import { findFreePort, isListening } from '../../tools/temporal/ports.ts';
import { startServerProcess } from '../../tools/temporal/server-process.ts';

/** These tests start servers of their own, also when the run uses the user's. */
const { TEMPORAL_ADDRESS: _userServer, ...ENV } = process.env;
const chatIdKey = defineSearchAttributeKey('ChatId', 'KEYWORD');

let folder: string;
let ends: (() => Promise<unknown>)[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'latchkey-dev-server-'));
  ends = [() => rm(folder, { recursive: true, force: true })];
});
afterEach(async () => {
  for (const end of ends.toReversed()) await end();
});

async function start(request: DevServerRequest = {}): Promise<DevServer> {
  const server = await startDevServer({ env: ENV, ...request });
  ends.push(server.stop);
  return server;
}

async function listenSomewhere(): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(async () => server.close());
  return { server, port: (server.address() as { port: number }).port };
}

describe('a dev server of our own', () => {
  test('on a file keeps every history over a SIGKILL of the server', async () => {
    const dbFile = path.join(folder, 'temporal.db');
    const first = await start({ dbFile });
    const port = Number(first.address.split(':')[1]);
    const workflowId = `survivor-${randomUUID()}`;
    const before = await connectClient({ address: first.address });
    const handle = await before.workflow.start('nobody-polls', { taskQueue: 'none', workflowId });
    await handle.signal('remember', 'this');
    await before.connection.close();
    process.kill(first.pid ?? 0, 'SIGKILL');
    await vi.waitUntil(async () => !(await isListening(port)), { timeout: 10_000 });

    await start({ dbFile, port });
    const after = await connectClient({ address: first.address });
    ends.push(() => after.connection.close());
    const { events } = await after.workflow.getHandle(workflowId).fetchHistory();
    const signal = events?.find((event) => event.workflowExecutionSignaledEventAttributes);
    expect(signal?.workflowExecutionSignaledEventAttributes?.signalName).toBe('remember');
  });

  test('knows our search attributes and shows its UI', async () => {
    const server = await start({ ui: true, namespace: 'chats' });
    const client = await connectClient({ address: server.address, namespace: 'chats' });
    ends.push(() => client.connection.close());
    const chatId = `chat-${randomUUID()}`;
    await client.workflow.start('nobody-polls', {
      taskQueue: 'none',
      workflowId: chatId,
      typedSearchAttributes: [{ key: chatIdKey, value: chatId }],
    });
    await vi.waitUntil(async () => (await client.workflow.count(`ChatId = '${chatId}'`)).count === 1, {
      timeout: 10_000,
    });
    const page = await fetch(server.uiUrl ?? '');
    expect(await page.text()).toContain('<html');
  });

  test('is gone after stop, which may be called twice', async () => {
    const server = await start();
    await server.stop();
    await server.stop();
    expect(() => process.kill(server.pid ?? 0, 0)).toThrow('ESRCH');
  });

  test('on a busy port is refused by name before anything starts', async () => {
    const { port } = await listenSomewhere();
    for (const name of ['port', 'uiPort'] as const) {
      const error: unknown = await start({ [name]: port }).catch((thrown: unknown) => thrown);
      expect(findFailureCode(error)).toBe('configuration');
      expect(String(error)).toContain(`Port ${port} (${name})`);
    }
  });

  test('that dies at its start is one error with its last words', async () => {
    const dbFile = path.join(folder, 'no', 'such', 'folder', 'temporal.db');
    const error: unknown = await start({ dbFile }).catch((thrown: unknown) => thrown);
    expect(findFailureCode(error)).toBe('temporal_unreachable');
    expect(String(error)).toMatch(/ended with exit code 1; its last lines:\n.*\S/);
  });
});

describe("a user's server (TEMPORAL_ADDRESS)", () => {
  test('is used, given the missing search attributes, and not stopped', async () => {
    const { path: executable } = await findDevServer({ env: ENV, onProgress: () => undefined });
    const port = await findFreePort();
    const args = ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port)];
    const foreign = await startServerProcess({ executable, args, env: ENV, outlivesParent: false });
    ends.push(foreign.stop);
    const address = `127.0.0.1:${port}`;
    await vi.waitFor(async () => (await connectClient({ address })).connection.close(), { timeout: 30_000 });

    const progress: string[] = [];
    const server = await start({
      env: { ...ENV, TEMPORAL_ADDRESS: address },
      onProgress: (line) => void progress.push(line),
    });
    expect(server).toMatchObject({ address, ownsServer: false, source: 'TEMPORAL_ADDRESS' });
    expect(progress).toEqual(['search attributes ChatId, AgentId, TurnState were added to namespace "default"']);
    await server.stop();
    expect(foreign.hasEnded()).toBe(false);

    const again: string[] = [];
    await start({ env: { ...ENV, TEMPORAL_ADDRESS: address }, onProgress: (line) => void again.push(line) });
    expect(again).toEqual([]);
  });

  test('that is not there is one error within seconds, for clients and for workers', async () => {
    const address = `127.0.0.1:${await findFreePort()}`;
    const startedAtMs = performance.now();
    const attempts = [
      start({ env: { ...ENV, TEMPORAL_ADDRESS: address } }),
      connectClient({ address }),
      connectWorker({ address }),
    ];
    for (const attempt of await Promise.allSettled(attempts)) {
      const error: unknown = attempt.status === 'rejected' ? attempt.reason : undefined;
      expect(findFailureCode(error)).toBe('temporal_unreachable');
      expect(String(error)).toContain(`No Temporal server answers at ${address} (connect ECONNREFUSED ${address})`);
    }
    expect(performance.now() - startedAtMs).toBeLessThan(8000);
  });

  test('that takes connections and says nothing is one error within seconds', async () => {
    const { port } = await listenSomewhere();
    const error: unknown = await connectClient({ address: `127.0.0.1:${port}` }).catch((thrown: unknown) => thrown);
    expect(findFailureCode(error)).toBe('temporal_unreachable');
  });

  test('without the namespace is refused with the name of the setting', async () => {
    const error: unknown = await connectClient({
      address: inject('temporalAddress'),
      namespace: 'no-such-namespace',
    }).catch((thrown: unknown) => thrown);
    expect(findFailureCode(error)).toBe('configuration');
    expect(String(error)).toContain('TEMPORAL_NAMESPACE');
  });
});
