/** What the stream costs, and what it keeps: seen in the SQLite file itself. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { KyselyPlugin } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { ChatChanges } from '../../../../store/chat-changes.ts';
import type { Schema } from '../../../../store/schema.ts';
import { sqliteChangeHints } from '../../../../store/sqlite/change-hints.ts';
import { createSqliteDialect } from '../../../../store/sqlite/dialect.ts';
import { createStore } from '../../../../store/store.ts';
import type { Store } from '../../../../store/store.ts';
import { ChatWatcher } from '../../../fixtures/chat-watcher.ts';
import { waitUntil } from '../../../fixtures/wait-until.ts';
import { AGENT, CHAT, beginTestStep, makeTemporaryFolder, openTestStore } from '../chat-fixture.ts';

/** Another connection to a file that a store has made, whose queries tell how much they read. */
function openCounted(path: string): { store: Store; count: { queries: number; rows: number } } {
  const count = { queries: 0, rows: 0 };
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      count.queries += 1;
      count.rows += result.rows.length;
      return result;
    },
  };
  const db = new Kysely<Schema>({ dialect: createSqliteDialect(path), plugins: [counting] });
  const store = createStore(db, new ChatChanges(db, sqliteChangeHints(path)));
  onTestFinished(() => store.close());
  return { store, count };
}

async function openChat(messages: number): Promise<{ store: Store; path: string }> {
  const path = join(await makeTemporaryFolder(), 'store.sqlite');
  const store = await openTestStore(`sqlite:${path}`);
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm1', text: 'hello' });
  await store.takeTurn({ chatId: CHAT, turn: 1, agentId: AGENT });
  for (let step = 1; step <= messages; step += 1) {
    const attempt = await beginTestStep(store, { step, messageId: step + 1 });
    await store.commitStep(attempt, { text: `message ${step}`, calls: [], agentId: AGENT });
  }
  return { store, path };
}

test('H02: a notification costs the same few rows in a long conversation as in a short one', async () => {
  const costs: unknown[] = [];
  for (const messages of [1, 150]) {
    const { store, path } = await openChat(messages);
    const counted = openCounted(path);
    const watcher = ChatWatcher.of(counted.store, CHAT);
    await watcher.until('it is live', () => watcher.types.includes('live'));
    const { length } = watcher.frames;
    // One look of its own may fall in between; it is of one row.
    const before = { ...counted.count };
    await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'next', text: 'x' });
    await watcher.until('it has heard', () => watcher.frames.length > length);
    const rows = counted.count.rows - before.rows;
    expect(rows).toBeLessThanOrEqual(8);
    costs.push(watcher.frames.slice(length).map(({ type }) => type));
    await watcher.leave();
  }
  expect(costs).toEqual([['queued'], ['queued']]);
});

test('H03: what is older than the newest ten thousand events goes by itself', async () => {
  const { store, path } = await openChat(1);
  // As if so much had been said in it.
  const database = new DatabaseSync(path);
  database.exec('update chats set last_event_seq = 10998');
  database.close();
  const enqueue = (id: string) => store.enqueueUserMessage({ chatId: CHAT, clientMessageId: id, text: 'x' });
  await enqueue('m2');
  expect((await store.readEvents({ chatId: CHAT, after: 0, limit: 1 }))[0]).toMatchObject({ seq: 1 });
  await enqueue('m3');
  expect(await store.readEvents({ chatId: CHAT, after: 0, limit: 9 })).toMatchObject([
    { seq: 10_999 },
    { seq: 11_000 },
  ]);
  const late = ChatWatcher.of(store, CHAT, 999);
  await late.until('it is live', () => late.types.includes('live'));
  expect(late.resets).toEqual(['cursor_too_old']);
  expect([...late.messages.values()]).toEqual(['hello', 'message 1']);
});

test('I12: a commit of another connection is hinted at, and nothing else is', async () => {
  const { store, path } = await openChat(1);
  let hints = 0;
  using _ = sqliteChangeHints(path)(() => (hints += 1));
  await waitUntil('the first look was taken', () => hints > 0);
  const before = hints;
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'x' });
  await waitUntil('the commit is hinted at', () => hints > before);
  const after = hints;
  await store.readEvents({ chatId: CHAT, after: 0, limit: 10 });
  await store.findChat(CHAT);
  expect(hints).toBe(after);
});
