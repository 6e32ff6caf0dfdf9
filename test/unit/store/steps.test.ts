import { expect, test } from 'vitest';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import {
  AGENT,
  CHAT,
  TARGET,
  beginTestStep,
  draftCall,
  eventTypes,
  exitOutcome,
  openStoreWithTurn,
} from './chat-fixture.ts';

const step1 = { chatId: CHAT, turn: 1, step: 1 };

test('F10: the message and its reserved calls appear in one transaction, with target and nonces', async () => {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  const twice = { text: 'both', calls: [draftCall('a'), draftCall('a')], agentId: AGENT, target: TARGET };
  // The second call of the same id violates the key, so nothing of the step may be there.
  await expect(store.commitStep(attempt, twice)).rejects.toThrow();
  expect(await store.listCalls({ chatId: CHAT })).toEqual([]);
  expect(await store.loadConversation(CHAT)).toHaveLength(1);
  const result = await store.commitStep(attempt, { ...twice, calls: [draftCall('a'), draftCall('b')] });
  expect(result).toMatchObject({ messageId: 2, isFinal: false });
  expect(result.calls).toMatchObject([
    { key: '2-a', position: 0, nonce: 'nonce.0', status: 'reserved', target: TARGET, request: { command: 'echo a' } },
    { key: '2-b', position: 1, nonce: 'nonce.1', status: 'reserved', target: TARGET },
  ]);
  expect((await store.loadConversation(CHAT))[1]).toMatchObject({ role: 'assistant', id: 2, step: 1, text: 'both' });
});

test('a committed step is only read: its ids and nonces win over what is offered later, also after the turn', async () => {
  const store = await openStoreWithTurn();
  await store.commitStep(await beginTestStep(store), { text: 'done', calls: [], agentId: AGENT });
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
  const again = { ...step1, messageId: parseMessageId(9), stepNonce: 'other', attemptScheduledMs: 5 };
  expect(await store.beginStep(again)).toEqual({
    state: 'committed',
    result: { messageId: 2, calls: [], isFinal: true },
  });
  expect(await store.findChat(CHAT)).toMatchObject({ highestMessageId: 2 });
});

test('a step that was begun keeps its message id and nonce for the attempt that goes on', async () => {
  const store = await openStoreWithTurn();
  await beginTestStep(store);
  const second = await beginTestStep(store, { messageId: 3, stepNonce: 'other', attemptScheduledMs: 2 });
  expect(second).toMatchObject({ messageId: 2, stepNonce: 'nonce' });
});

test('I09: an attempt that was overtaken writes no part and commits nothing', async () => {
  const store = await openStoreWithTurn();
  const first = await beginTestStep(store, { attemptScheduledMs: 1 });
  await store.writePart(first, 'half a');
  const second = await beginTestStep(store, { attemptScheduledMs: 2 });
  await expect(store.writePart(first, ' sentence')).rejects.toMatchObject({ code: 'too_busy' });
  await expect(store.commitStep(first, { text: 'first', calls: [], agentId: AGENT })).rejects.toMatchObject({
    code: 'too_busy',
  });
  await store.commitStep(second, { text: 'second', calls: [draftCall('x')], agentId: AGENT });
  // Too late by now, and harmless: it learns what stands.
  const late = await store.commitStep(first, { text: 'first', calls: [], agentId: AGENT });
  expect(late.calls.map((call) => call.key)).toEqual(['2-x']);
  expect((await store.loadConversation(CHAT)).map((message) => message.text)).toEqual(['hello', 'second']);
});

test('I09: an attempt that was scheduled before the running one does not take the step from it', async () => {
  const store = await openStoreWithTurn();
  const live = await beginTestStep(store, { attemptScheduledMs: 20 });
  await expect(beginTestStep(store, { attemptScheduledMs: 10 })).rejects.toMatchObject({ code: 'too_busy' });
  expect(await store.commitStep(live, { text: 'ok', calls: [], agentId: AGENT })).toMatchObject({ isFinal: true });
});

test('a retried stream takes back what the failed attempt showed; a committed message ends its parts', async () => {
  const store = await openStoreWithTurn();
  const before = (await eventTypes(store)).length;
  await store.writePart(await beginTestStep(store), 'half');
  expect((await eventTypes(store)).slice(before)).toEqual(['part']);
  const second = await beginTestStep(store, { attemptScheduledMs: 2 });
  expect((await eventTypes(store)).slice(before)).toEqual(['withdrawn']);
  await store.writePart(second, 'whole');
  await store.commitStep(second, { text: 'whole', calls: [], agentId: AGENT });
  expect((await eventTypes(store)).slice(before)).toEqual(['withdrawn', 'message']);
});

test('T1: a step of a turn that is not the running one is refused as turn_closed, also at its commit', async () => {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'interrupted' });
  await expect(store.commitStep(attempt, { text: 'late', calls: [], agentId: AGENT })).rejects.toMatchObject({
    code: 'turn_closed',
  });
  await expect(beginTestStep(store, { step: 2, messageId: 3 })).rejects.toMatchObject({ code: 'turn_closed' });
  expect(await store.loadConversation(CHAT)).toHaveLength(1);
});

test('a message id that is taken is refused for a new step', async () => {
  const store = await openStoreWithTurn();
  await expect(beginTestStep(store, { messageId: 1 })).rejects.toMatchObject({
    code: 'bad_request',
    field: 'messageId',
  });
});

test('closeStep closes an open step against its attempt and withdraws what it showed', async () => {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.writePart(attempt, 'half');
  expect(await store.closeStep(step1)).toEqual({ openCalls: [] });
  expect(await store.closeStep(step1)).toEqual({ openCalls: [] });
  await expect(store.commitStep(attempt, { text: 'late', calls: [], agentId: AGENT })).rejects.toMatchObject({
    code: 'step_closed',
  });
  expect((await eventTypes(store)).filter((type) => type === 'part' || type === 'withdrawn')).toEqual(['withdrawn']);
});

test('closeStep of a step that was never begun keeps a late attempt from beginning it', async () => {
  const store = await openStoreWithTurn();
  expect(await store.closeStep(step1)).toEqual({ openCalls: [] });
  await expect(beginTestStep(store)).rejects.toMatchObject({ code: 'step_closed' });
});

test('closeStep gives "not run" to what has no target, hands back what has one, and leaves results alone', async () => {
  const store = await openStoreWithTurn();
  const calls = ['done', 'dispatched', 'waiting'].map(draftCall);
  await store.commitStep(await beginTestStep(store), { text: '', calls, agentId: AGENT });
  const keys = { done: parseExecutionKey('2-done'), dispatched: parseExecutionKey('2-dispatched') };
  await store.recordTargets({ chatId: CHAT, keys: [keys.done, keys.dispatched], target: TARGET });
  await store.recordResult({ chatId: CHAT, turn: 1, key: keys.done, outcome: exitOutcome(0) });
  const closed = await store.closeStep(step1);
  expect(closed).toMatchObject({
    messageId: 2,
    openCalls: [{ key: '2-dispatched', status: 'reserved', target: TARGET }],
  });
  expect(await store.closeStep(step1)).toEqual(closed);
  expect(
    (await store.listCalls({ chatId: CHAT, turn: 1 })).map((call) => [call.key, call.status, call.evidence?.code]),
  ).toEqual([
    ['2-done', 'exited', 'exit'],
    ['2-dispatched', 'reserved', undefined],
    ['2-waiting', 'no_effect', 'not_dispatched'],
  ]);
});
