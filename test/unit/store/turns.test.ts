import { expect, test } from 'vitest';
import {
  AGENT,
  CHAT,
  TARGET,
  beginTestStep,
  draftCall,
  exitOutcome,
  openStoreWithTurn,
  openTestStore,
} from './chat-fixture.ts';
import { parseExecutionKey } from '../../../contract/execution-key.ts';

const take = { chatId: CHAT, agentId: AGENT };

test('T1: taking a turn moves one message into the conversation, and taking it again changes nothing', async () => {
  const store = await openStoreWithTurn();
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'later' });
  expect(await store.takeTurn({ ...take, turn: 1 })).toEqual({ highestMessageId: 1 });
  expect(await store.loadConversation(CHAT)).toEqual([{ role: 'user', id: 1, chatId: CHAT, turn: 1, text: 'hello' }]);
});

test('T1: while one turn runs another is refused as chat_busy, and one that has ended as turn_closed', async () => {
  const store = await openStoreWithTurn();
  await expect(store.takeTurn({ ...take, turn: 2 })).rejects.toMatchObject({ code: 'chat_busy' });
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
  await expect(store.takeTurn({ ...take, turn: 1 })).rejects.toMatchObject({ code: 'turn_closed' });
  expect(await store.takeTurn({ ...take, turn: 2 })).toEqual({ highestMessageId: 1 });
});

test('T1: of two turns that are taken at the same instant one gets the chat', async () => {
  const store = await openTestStore();
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  const results = await Promise.allSettled([1, 2].map((turn) => store.takeTurn({ ...take, turn })));
  expect(results.map((result) => result.status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('a turn that was refused as busy can be ended without touching the one that runs', async () => {
  const store = await openStoreWithTurn();
  await store.endTurn({ chatId: CHAT, turn: 2, state: 'failed', error: { code: 'chat_busy', message: 'busy' } });
  const chat = await store.findChat(CHAT);
  expect(chat).toMatchObject({ activeTurn: 1 });
  expect(chat).not.toHaveProperty('lastError');
  expect(await store.findTurn({ chatId: CHAT, turn: 2 })).toMatchObject({
    state: 'failed',
    error: { code: 'chat_busy' },
  });
});

test('an agent that has seen higher ids means store_rolled_back, every time it is asked, and the next turn goes on above them', async () => {
  const store = await openTestStore();
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm1', text: 'one' });
  const rolledBack = { ...take, turn: 1, agentHighestMessageId: 41 };
  await expect(store.takeTurn(rolledBack)).rejects.toMatchObject({ code: 'store_rolled_back' });
  await expect(store.takeTurn(rolledBack)).rejects.toMatchObject({ code: 'store_rolled_back' });
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'failed', error: { code: 'store_rolled_back', message: 'x' } });
  expect(await store.findChat(CHAT)).toMatchObject({ highestMessageId: 42, lastError: { code: 'store_rolled_back' } });
  expect(await store.findChat(CHAT)).not.toHaveProperty('activeTurn');
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'two' });
  expect(await store.takeTurn({ ...take, turn: 2, agentHighestMessageId: 41 })).toEqual({ highestMessageId: 43 });
  expect((await store.loadConversation(CHAT)).map((message) => 'id' in message && message.id)).toEqual([42, 43]);
});

test('a rollback that is noticed in a running turn says so too, and leaves the end to its workflow', async () => {
  const store = await openStoreWithTurn();
  const later = { ...take, turn: 1, agentHighestMessageId: 9 };
  await expect(store.takeTurn(later)).rejects.toMatchObject({ code: 'store_rolled_back' });
  await expect(store.takeTurn(later)).rejects.toMatchObject({ code: 'store_rolled_back' });
  expect(await store.findChat(CHAT)).toMatchObject({ activeTurn: 1, highestMessageId: 9 });
});

test('an agent that has seen as much as the store, or less, is no rollback', async () => {
  const store = await openTestStore();
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  expect(await store.takeTurn({ ...take, turn: 1, agentHighestMessageId: 0 })).toEqual({ highestMessageId: 0 });
  await beginTestStep(store, { messageId: 5 });
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
  expect(await store.takeTurn({ ...take, turn: 2, agentHighestMessageId: 5 })).toEqual({ highestMessageId: 5 });
});

test('T1: a turn ends once, the first end stands, and its error is kept until a turn works again', async () => {
  const store = await openStoreWithTurn();
  const error = { code: 'model_refused', message: 'no' };
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'failed', error });
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
  expect(await store.findTurn({ chatId: CHAT, turn: 1 })).toMatchObject({ state: 'failed', error });
  expect(await store.findChat(CHAT)).toMatchObject({ lastError: error });
  await store.takeTurn({ ...take, turn: 2 });
  await store.endTurn({ chatId: CHAT, turn: 2, state: 'completed' });
  expect(await store.findChat(CHAT)).not.toHaveProperty('lastError');
});

test('C1: a turn with a call that has no result does not end', async () => {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.commitStep(attempt, { text: '', calls: [draftCall('a')], agentId: AGENT, target: TARGET });
  const end = { chatId: CHAT, turn: 1, state: 'completed' } as const;
  await expect(store.endTurn(end)).rejects.toMatchObject({
    code: 'invariant_broken',
    message: expect.stringMatching(/2-a/),
  });
  expect(await store.findChat(CHAT)).toMatchObject({ activeTurn: 1 });
  await store.recordResult({ chatId: CHAT, turn: 1, key: parseExecutionKey('2-a'), outcome: exitOutcome(0) });
  await store.endTurn(end);
  expect(await store.findChat(CHAT)).not.toHaveProperty('activeTurn');
});

test('reserved turn numbers grow, also past a turn that was taken without having been reserved', async () => {
  const store = await openTestStore();
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  expect(await store.reserveNextTurn(CHAT)).toBe(1);
  await store.takeTurn({ ...take, turn: 4 });
  expect(await store.reserveNextTurn(CHAT)).toBe(5);
});
