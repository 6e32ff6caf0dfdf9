import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../store/open-store.ts';
import { createPool } from '../../store/postgres/pool.ts';
import { makeEmptyPostgresDatabase, makePostgresDatabase, runSql } from '../fixtures/postgres-database.ts';
import { AGENT, CHAT, openTestStore } from '../unit/store/chat-fixture.ts';

const OPENED_AT_ONCE_COUNT = 6;

test('an empty database is migrated once, also when several processes open it at the same time', async () => {
  const url = await makeEmptyPostgresDatabase();
  const stores = await Promise.all(Array.from({ length: OPENED_AT_ONCE_COUNT }, () => openTestStore(url)));
  await stores[0]!.createChat({ chatId: CHAT, agentId: AGENT });
  for (const store of stores) expect(await store.findChat(CHAT)).toMatchObject({ agentId: AGENT, lastTurn: 0 });
  const rows = await runSql(url, 'select name from kysely_migration');
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
});

test('a database of a newer version is refused by the names of what this one does not know', async () => {
  const url = await makeEmptyPostgresDatabase();
  await (await openStore(url)).close();
  await runSql(url, `insert into kysely_migration values ('9999-from-the-future', '2099-01-01T00:00:00Z')`);
  await expect(openStore(url)).rejects.toMatchObject({
    code: 'configuration',
    field: 'store',
    message: expect.stringMatching(/brought to 9999-from-the-future by a newer version .* knows up to \d{4}-/),
  });
});

test.each([
  [
    'a server that is not there',
    'postgres://user:hush@127.0.0.1:1/db',
    /postgres:\/\/user:\*\*\*@127.0.0.1:1\/db .*ECONN/,
  ],
  ['a password in a parameter', 'postgresql://127.0.0.1:1/db?user=u&password=hush', /password=\*\*\* .*ECONN/],
  ['a password that is not escaped', 'postgres://user:hu#sh@host/db', /user:\*\*\*@host\/db can't be read .*%23/],
  ['one with an at sign', 'postgres://user:hu/@sh@host/db', /user:\*\*\*@host\/db can't be/],
])('%s is refused by name, and the password is never told', async (_name, url, message) => {
  const refusal: unknown = await openStore(url).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: 'configuration', field: 'store', message: expect.stringMatching(message) });
  expect(String(refusal)).not.toMatch(/hush|hu#sh|@sh/);
});

test('a database that does not exist, and one that is not UTF-8, are refused with what to do', async () => {
  const url = await makePostgresDatabase();
  await expect(openStore(url.replace(/test_\w+/, 'nobody'))).rejects.toMatchObject({
    message: expect.stringMatching(/database "nobody" does not exist/),
  });
  const name = `ascii_${process.pid}`;
  await runSql(url, `create database ${name} encoding 'SQL_ASCII' locale 'C' template template0`);
  await expect(openStore(url.replace(/test_\w+/, name))).rejects.toMatchObject({
    message: expect.stringMatching(/encoding is SQL_ASCII: .*UTF8/),
  });
});

test('K5: what is told is on disk, also where the database was set not to wait for it', async () => {
  const url = await makeEmptyPostgresDatabase();
  const name = /test_\w+/.exec(url)?.[0];
  await runSql(url, `alter database ${name} set synchronous_commit = off`);
  expect(await runSql(url, 'show synchronous_commit')).toEqual([{ synchronous_commit: 'off' }]);
  const pool = createPool({ url, statementTimeoutMs: 1000 });
  onTestFinished(() => pool.end());
  expect((await pool.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }]);
});
