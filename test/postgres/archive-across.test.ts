import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makePostgresDatabase } from '../fixtures/postgres-database.ts';
import { asStream, compared, COPY, exportLines, fillChat } from '../unit/store/archive-fixture.ts';
import { CHAT, makeTemporaryFolder, openTestStore } from '../unit/store/chat-fixture.ts';

test('a chat goes from SQLite to PostgreSQL and back, and is the same as before', async () => {
  const sqlite = await openTestStore(`sqlite:${join(await makeTemporaryFolder(), 'store.sqlite')}`);
  const postgres = await openTestStore(await makePostgresDatabase());
  await fillChat(sqlite);
  const lines = (await exportLines(sqlite)).map((line) => line.replace('"cancel_requested"', '"unknown"'));
  await postgres.importChat({ chatId: CHAT, lines: asStream(lines) });
  const moved = await exportLines(postgres);
  await sqlite.importChat({ chatId: COPY, lines: asStream(moved) });
  expect(compared(moved)).toEqual(compared(lines));
  expect(compared(await exportLines(sqlite, COPY))).toEqual(compared(lines));
});
