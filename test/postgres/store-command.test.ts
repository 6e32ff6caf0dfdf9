import { execFile } from 'node:child_process';
import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeEmptyPostgresDatabase, makePostgresDatabase } from '../fixtures/postgres-database.ts';
import { fillChat } from '../unit/store/archive-fixture.ts';
import { CHAT, makeTemporaryFolder, openTestStore } from '../unit/store/chat-fixture.ts';

const LATCHKEY = join(import.meta.dirname, '../../client/latchkey.ts');
const PROCESSES_COUNT = 3;

async function latchkey(url: string, ...words: string[]): Promise<{ code: number; said: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-store-command-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const env = { ...process.env, LATCHKEY_STORE: url, XDG_STATE_HOME: folder };
  return new Promise((resolve) => {
    execFile(process.execPath, [LATCHKEY, ...words], { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    );
  });
}

test('processes that migrate an empty database at the same time all succeed, and each step is applied once', async () => {
  const url = await makeEmptyPostgresDatabase();
  const before = await latchkey(url, 'store', 'status');
  expect(before).toMatchObject({ code: 1, said: expect.stringMatching(/missing: 0001-/) });
  const ends = await Promise.all(
    Array.from({ length: PROCESSES_COUNT }, () => latchkey(url, 'store', 'migrate', '--json')),
  );
  expect(ends.filter(({ code }) => code !== 0)).toEqual([]);
  const applied = ends.flatMap(({ said }) => (JSON.parse(said) as { applied: string[] }).applied);
  const { code, said } = await latchkey(url, 'store', 'status', '--json');
  const status = JSON.parse(said) as { state: string; applied: { name: string }[]; pending: string[] };
  expect([code, status.state, status.pending]).toEqual([0, 'current', []]);
  expect(applied.toSorted()).toEqual(status.applied.map(({ name }) => name));
});

test('a chat is moved from one store to another by export and import, and found there', async () => {
  const folder = await makeTemporaryFolder();
  const [from, to] = [`sqlite:${join(folder, 'store.sqlite')}`, await makePostgresDatabase()];
  await fillChat(await openTestStore(from));
  const file = join(folder, 'chat.jsonl');
  const exported = await latchkey(from, 'export', CHAT, '--out', file, '--json');
  expect(JSON.parse(exported.said)).toMatchObject({ chatId: CHAT, file, messages: 4, calls: 3 });
  const imported = await latchkey(to, 'import', file, '--chat', 'moved', '--agent', 'agent-2', '--json');
  expect(JSON.parse(imported.said)).toMatchObject({ chatId: 'moved', agentId: 'agent-2', messages: 4, calls: 3 });
  const found = await latchkey(to, 'chats', '--search', 'TWO\nlines, Ä', '--json');
  expect(JSON.parse(found.said)).toMatchObject({ chats: [{ chatId: 'moved', agentId: 'agent-2' }] });
  await truncate(file, 500);
  const cut = await latchkey(to, 'import', file, '--chat', 'cut');
  expect(cut).toMatchObject({ code: 125, said: expect.stringMatching(/^latchkey: line \d: /) });
});
