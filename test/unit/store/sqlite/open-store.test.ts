import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../../../store/open-store.ts';
import { AGENT, CHAT, makeTemporaryFolder, openTestStore } from '../chat-fixture.ts';

test('a new file is migrated once, also when two connections open it at the same time', async () => {
  const path = join(await makeTemporaryFolder(), 'deep', 'store.sqlite');
  const [one, two] = await Promise.all([openTestStore(path), openTestStore(path)]);
  await one.createChat({ chatId: CHAT, agentId: AGENT });
  expect(await two.findChat(CHAT)).toMatchObject({ agentId: AGENT, highestMessageId: 0, lastTurn: 0 });
});

test('two connections of one process write side by side, none loses a write or waits for the event loop', async () => {
  const path = join(await makeTemporaryFolder(), 'store.sqlite');
  const stores = [await openTestStore(path), await openTestStore(path)];
  await stores[0]!.createChat({ chatId: CHAT, agentId: AGENT });
  const turns = await Promise.all(Array.from({ length: 40 }, (_, index) => stores[index % 2]!.reserveNextTurn(CHAT)));
  expect(turns.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
});

test('what was stored is there after the file is opened again', async () => {
  const path = join(await makeTemporaryFolder(), 'store.sqlite');
  const first = await openStore(path);
  await first.createChat({ chatId: CHAT, agentId: AGENT });
  await first.close();
  const second = await openTestStore(path);
  expect(await second.findChat(CHAT)).toBeDefined();
});

test('a database of another kind, and a file that is none, are refused by name', async () => {
  await expect(openStore('redis://somewhere/db')).rejects.toMatchObject({ code: 'configuration', field: 'store' });
  const path = join(await makeTemporaryFolder(), 'not-a-database');
  await writeFile(path, 'just some text, and long enough to be looked at as a header of a database file\n'.repeat(20));
  await expect(openStore(path)).rejects.toMatchObject({
    code: 'configuration',
    message: expect.stringMatching(/not-a-database can't be opened: .*not a database/),
  });
});
