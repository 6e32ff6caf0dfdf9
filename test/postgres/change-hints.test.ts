import { expect, test } from 'vitest';
import { postgresChangeHints } from '../../store/postgres/change-hints.ts';
import { makePostgresDatabase, runSql } from '../fixtures/postgres-database.ts';
import { waitUntil } from '../fixtures/wait-until.ts';
import { AGENT, CHAT, openTestStore } from '../unit/store/chat-fixture.ts';

test('I12: PostgreSQL notifies of a chat with each commit, also after the listening connection was lost', async () => {
  const url = await makePostgresDatabase();
  const store = await openTestStore(url);
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  const hints: (string | undefined)[] = [];
  using _ = postgresChangeHints(url)((chatId) => hints.push(chatId));
  await waitUntil('it listens', () => hints.length === 1);
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm1', text: 'x' });
  await waitUntil('it is told', () => hints.length === 2);
  await runSql(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'latchkey-hints' and datname = current_database()`,
  );
  await waitUntil('it listens again', () => hints.length === 3);
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'x' });
  await waitUntil('it is told again', () => hints.length === 4);
  // Without a chat it says that something may have been missed.
  expect(hints).toEqual([undefined, CHAT, undefined, CHAT]);
});
