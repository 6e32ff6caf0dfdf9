import { expect, test } from 'vitest';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import type { MessageId } from '../../../contract/ids.ts';
import type { Store } from '../../../store/store.ts';
import { AGENT, beginTestStep, CHAT, draftCall, exitOutcome, openStoreWithTurn } from './chat-fixture.ts';

/** Message 1 is the user's; 2 to `steps + 1` are the model's, each with one call that has its result. */
async function openConversation(steps: number): Promise<Store> {
  const store = await openStoreWithTurn();
  for (let step = 1; step <= steps; step += 1) {
    const attempt = await beginTestStep(store, { step, messageId: step + 1 });
    await store.commitStep(attempt, { text: `step ${step}`, calls: [draftCall('a')], agentId: AGENT });
    const key = parseExecutionKey(`${step + 1}-a`);
    await store.recordResult({ chatId: CHAT, turn: 1, key, outcome: exitOutcome(0) });
  }
  return store;
}

const idsOf = (messages: readonly { readonly id: MessageId }[]): number[] => messages.map(({ id }) => id);

test('messages are read backwards from the newest, and forwards from any, each page oldest first', async () => {
  const store = await openConversation(5);
  const newest = await store.listMessages({ chatId: CHAT, limit: 2 });
  expect([idsOf(newest.messages), newest.hasMore]).toEqual([[5, 6], true]);
  const earlier = await store.listMessages({ chatId: CHAT, before: newest.messages[0]!.id, limit: 4 });
  expect([idsOf(earlier.messages), earlier.hasMore]).toEqual([[1, 2, 3, 4], false]);
  const later = await store.listMessages({ chatId: CHAT, after: parseMessageId(2), limit: 3 });
  expect([idsOf(later.messages), later.hasMore]).toEqual([[3, 4, 5], true]);
});

test('a message comes with its calls and their results, and with what was noted after it', async () => {
  const store = await openConversation(3);
  const unknown = { status: 'unknown', evidence: { code: 'lost', detail: '' }, text: 'nobody knows' } as const;
  const attempt = await beginTestStep(store, { step: 4, messageId: 5 });
  await store.commitStep(attempt, { text: '', calls: [draftCall('b')], agentId: AGENT });
  const call = { chatId: CHAT, turn: 1, key: parseExecutionKey('5-b') };
  await store.recordResult({ ...call, outcome: unknown });
  await store.recordTruth({ ...call, outcome: exitOutcome(3) });
  const [first, second] = [
    await store.listMessages({ chatId: CHAT, after: parseMessageId(3), limit: 1 }),
    await store.listMessages({ chatId: CHAT, after: parseMessageId(4), limit: 5 }),
  ];
  expect(first.messages).toMatchObject([{ id: 4, role: 'assistant', step: 3, calls: [{ key: '4-a' }], notes: [] }]);
  expect(second.messages).toMatchObject([
    {
      id: 5,
      calls: [{ key: '5-b', status: 'exited', arguments: { command: 'echo b' }, result: { text: 'nobody knows' } }],
      notes: [{ key: '5-b' }],
    },
  ]);
  expect((await store.listMessages({ chatId: CHAT, limit: 9 })).messages[0]).toMatchObject({
    id: 1,
    role: 'user',
    clientMessageId: 'm1',
    text: 'hello',
  });
});

test('a page beyond the end is empty, and both directions at once are refused', async () => {
  const store = await openConversation(1);
  expect(await store.listMessages({ chatId: CHAT, after: parseMessageId(2), limit: 5 })).toEqual({
    messages: [],
    hasMore: false,
  });
  const both = { chatId: CHAT, before: parseMessageId(2), after: parseMessageId(1), limit: 5 };
  await expect(store.listMessages(both)).rejects.toMatchObject({ code: 'bad_request', field: 'before' });
});
