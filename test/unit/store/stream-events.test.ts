import { expect, test } from 'vitest';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseChatId } from '../../../contract/ids.ts';
import { AGENT, CHAT, beginTestStep, draftCall, eventTypes, exitOutcome, openStoreWithTurn } from './chat-fixture.ts';

test('S1: a turn tells its watchers every change once, in order, status first', async () => {
  const store = await openStoreWithTurn();
  await store.commitStep(await beginTestStep(store), { text: 'look', calls: [draftCall('a')], agentId: AGENT });
  await store.recordResult({ chatId: CHAT, turn: 1, key: parseExecutionKey('2-a'), outcome: exitOutcome(0) });
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
  expect(await eventTypes(store)).toEqual([
    'status',
    'queued',
    'chat',
    'status',
    'turn',
    'message',
    'message',
    'call',
    'status',
    'turn',
  ]);
  const events = await store.readEvents({ chatId: CHAT, after: 0, limit: 100 });
  expect(events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(events[6]).toMatchObject({
    role: 'assistant',
    calls: [{ key: '2-a', status: 'reserved', summary: '$ echo a' }],
  });
});

test('S1: a reader with a cursor gets the rest, page by page, and sequences are counted per chat', async () => {
  const store = await openStoreWithTurn();
  const other = parseChatId('chat-2');
  await store.createChat({ chatId: other, agentId: AGENT });
  const seen: number[] = [];
  for (let after = 0; ; after = seen.at(-1)!) {
    const page = await store.readEvents({ chatId: CHAT, after, limit: 2 });
    if (page.length === 0) break;
    seen.push(...page.map((event) => event.seq));
  }
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  expect((await store.readEvents({ chatId: other, after: 0, limit: 10 })).map((event) => event.seq)).toEqual([1]);
});

test('a change that is refused leaves no event', async () => {
  const store = await openStoreWithTurn();
  const before = await eventTypes(store);
  await expect(store.takeTurn({ chatId: CHAT, turn: 2, agentId: AGENT })).rejects.toThrow();
  expect(await eventTypes(store)).toEqual(before);
});
