import { expect, test } from 'vitest';
import { parseChatId } from '../../../contract/ids.ts';
import type { ListChatsInput } from '../../../store/list-chats.ts';
import type { Store } from '../../../store/store.ts';
import { AGENT, openTestStore } from './chat-fixture.ts';

/** A chat in which each text was said. */
async function say(store: Store, chat: string, ...texts: string[]): Promise<void> {
  const chatId = parseChatId(chat);
  await store.createChat({ chatId, agentId: AGENT });
  for (const [index, text] of texts.entries()) {
    await store.enqueueUserMessage({ chatId, clientMessageId: `m${index}`, text });
    const turn = await store.reserveNextTurn(chatId);
    await store.takeTurn({ chatId, turn, agentId: AGENT });
    await store.endTurn({ chatId, turn, state: 'completed' });
  }
}

async function pages(store: Store, input: Omit<ListChatsInput, 'after'>): Promise<string[][]> {
  const seen: string[][] = [];
  for (let after: string | undefined; ;) {
    const { chats, next } = await store.listChats({ ...input, ...(after === undefined ? {} : { after }) });
    seen.push(chats.map(({ chatId }) => chatId));
    if (next === undefined) return seen;
    after = next;
  }
}

test('chats are listed page by page, each once, the newest first', async () => {
  const store = await openTestStore();
  for (const chat of ['a', 'b', 'c', 'd', 'e']) await say(store, chat);
  const listed = await pages(store, { limit: 2 });
  expect(listed.map((page) => page.length)).toEqual([2, 2, 1]);
  expect(listed.flat().toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
  const { chats } = await store.listChats({ limit: 5 });
  const order = chats.map(({ updatedAt, chatId }) => `${updatedAt} ${chatId}`);
  expect(order).toEqual(order.toSorted().toReversed());
  expect(await pages(store, { limit: 5 })).toHaveLength(1);
});

test('a page that follows skips nobody and repeats nobody, whoever is made or spoken to in between', async () => {
  const store = await openTestStore();
  for (const chat of ['a', 'b', 'c', 'd']) await say(store, chat);
  const first = await store.listChats({ limit: 2 });
  await say(store, 'new', 'hello');
  await say(store, first.chats[0]!.chatId, 'again');
  const second = await store.listChats({ limit: 10, after: first.next! });
  const seen = [...first.chats, ...second.chats].map(({ chatId }) => chatId);
  expect(seen.toSorted()).toEqual(['a', 'b', 'c', 'd']);
});

test.each<[string, string, string[]]>([
  ['in another case', 'ÄPFEL', ['fruit']],
  ['with a percent sign', '100%', ['percent']],
  ['with an underscore', 'a_b', ['underscore']],
  ['with the escaping character', 'wow!', ['bang']],
  ['with a backslash', 'c:\\x', ['backslash']],
  ['that only a pattern would match', 'a%b', []],
  ['across a quote', `it's`, ['quote']],
  ['of several chats', 'said', ['bang', 'fruit']],
])('a text %s is found as it stands', async (_name, query, found) => {
  const store = await openTestStore();
  await say(store, 'fruit', 'he said: two äpfel');
  await say(store, 'percent', 'at 100% now');
  await say(store, 'thousand', 'at 1000 now, aXb');
  await say(store, 'underscore', 'first a_b', 'then more');
  await say(store, 'bang', 'wow! they said');
  await say(store, 'backslash', 'in C:\\X');
  await say(store, 'quote', "it's there");
  expect((await pages(store, { limit: 1, query })).flat().toSorted()).toEqual(found);
});

test.each<[string, ListChatsInput, string]>([
  ['a cursor that is none', { limit: 1, after: 'bm9uZQ' }, 'after'],
  ['a limit of 0', { limit: 0 }, 'limit'],
  ['a limit above the most', { limit: 201 }, 'limit'],
  ['a text that is too long', { limit: 1, query: 'x'.repeat(201) }, 'query'],
])('%s is refused', async (_name, input, field) => {
  const store = await openTestStore();
  await expect(store.listChats(input)).rejects.toMatchObject({ code: 'bad_request', field });
});
