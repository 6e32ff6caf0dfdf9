import { expect, test } from 'vitest';
import { parseAgentId, parseChatId } from '../../../contract/ids.ts';
import { AGENT, CHAT, eventTypes, openTestStore } from './chat-fixture.ts';

test('creating a chat again changes nothing, and binding it to another agent is refused', async () => {
  const store = await openTestStore();
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  await expect(store.createChat({ chatId: CHAT, agentId: parseAgentId('other') })).rejects.toMatchObject({
    code: 'bad_request',
    field: 'agentId',
  });
  expect(await eventTypes(store)).toEqual(['status']);
});

test('a client message id that comes again counts once and keeps its place', async () => {
  const store = await openTestStore();
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  const send = (clientMessageId: string, text: string) =>
    store.enqueueUserMessage({ chatId: CHAT, clientMessageId, text });
  expect(await send('m1', 'one')).toMatchObject({ position: 1, isNew: true, queue: ['m1'] });
  expect(await send('m2', 'two')).toMatchObject({ position: 2, isNew: true, queue: ['m1', 'm2'] });
  expect(await send('m1', 'another text')).toMatchObject({ position: 1, isNew: false, queue: ['m1', 'm2'] });
  await store.takeTurn({ chatId: CHAT, turn: 1, agentId: AGENT });
  expect(await send('m1', 'one')).toMatchObject({ position: 1, isNew: false, turn: 1, queue: ['m2'] });
  expect((await store.loadConversation(CHAT)).map((message) => message.text)).toEqual(['one']);
});

test.each([
  ['an empty message', { clientMessageId: 'm', text: ' \n' }, 'bad_request', 'text'],
  ['a message over 256 KiB', { clientMessageId: 'm', text: '界'.repeat(90_000) }, 'body_too_large', 'text'],
  ['an empty client message id', { clientMessageId: '', text: 'x' }, 'bad_request', 'clientMessageId'],
  ['a client message id with NUL', { clientMessageId: 'a\0', text: 'x' }, 'bad_request', 'clientMessageId'],
])('%s is refused and nothing is stored', async (_name, message, code, field) => {
  const store = await openTestStore();
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  await expect(store.enqueueUserMessage({ chatId: CHAT, ...message })).rejects.toMatchObject({ code, field });
  expect(await eventTypes(store)).toEqual(['status']);
});

test('a message for a chat that does not exist is refused', async () => {
  const store = await openTestStore();
  const message = { chatId: parseChatId('nobody'), clientMessageId: 'm', text: 'x' };
  await expect(store.enqueueUserMessage(message)).rejects.toMatchObject({ code: 'unknown_chat', field: 'chatId' });
});

test('NUL and lone surrogates of a message are stored as text that every reader can take', async () => {
  const store = await openTestStore();
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm', text: 'a\0b\ud800c' });
  await store.takeTurn({ chatId: CHAT, turn: 1, agentId: AGENT });
  expect((await store.loadConversation(CHAT))[0]!.text).toBe('a\\0b\ufffdc');
});
