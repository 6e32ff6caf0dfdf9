import { describe, expect, test } from 'vitest';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import type { Store } from '../../../store/store.ts';
import { AGENT, beginTestStep, CHAT, draftCall, exitOutcome, openStoreWithTurn, TARGET } from './chat-fixture.ts';

const edit = (messageId: number, id = 'edit-1') => ({
  chatId: CHAT,
  messageId: parseMessageId(messageId),
  clientMessageId: id,
  text: `text of ${id}`,
});

/** Turn 1: "hello", a call `a` that was detached. Turn 2: "more" and an answer with a call `b`, detached too. */
async function openConversation(): Promise<Store> {
  const store = await openStoreWithTurn();
  await answer(store, { turn: 1, messageId: 2, id: 'a' });
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'more' });
  await store.takeTurn({ chatId: CHAT, turn: 2, agentId: AGENT });
  await answer(store, { turn: 2, messageId: 4, id: 'b' });
  return store;
}

async function answer(store: Store, { turn, messageId, id }: { turn: number; messageId: number; id: string }) {
  const begun = await store.beginStep({
    chatId: CHAT,
    turn,
    step: 1,
    messageId: parseMessageId(messageId),
    stepNonce: `nonce-${turn}`,
    attemptScheduledMs: 1,
  });
  if (begun.state !== 'begun') throw new Error('committed before');
  await store.commitStep(begun.attempt, { text: id, calls: [draftCall(id)], agentId: AGENT, target: TARGET });
  const key = parseExecutionKey(`${messageId}-${id}`);
  const detached = {
    ...exitOutcome(0),
    status: 'detached',
    evidence: { code: 'background', detail: 'it runs' },
  } as const;
  await store.recordResult({ chatId: CHAT, turn, key, outcome: detached });
  await store.endTurn({ chatId: CHAT, turn, state: 'completed' });
}

async function seen(store: Store): Promise<string[]> {
  return (await store.loadConversation(CHAT)).map(({ role, text }) => `${role}: ${text}`);
}

describe('an edit', () => {
  test('G06: hides the message and what follows, begins an epoch, and puts its text in front; nothing is rewritten', async () => {
    const store = await openConversation();
    await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm3', text: 'waits' });
    const edited = await store.editMessage(edit(3));
    expect(edited).toMatchObject({ isNew: true, epoch: 1, queue: ['edit-1', 'm3'] });
    expect(edited.hiddenCalls).toEqual([
      { turn: 2, key: '4-b', nonce: 'nonce-2.0', target: TARGET, summary: '$ echo b' },
    ]);
    expect(await seen(store)).toEqual(['user: hello', 'assistant: a']);
    const events = await store.readEvents({ chatId: CHAT, after: 0, limit: 1000 });
    expect(events.find(({ type }) => type === 'hidden')).toMatchObject({ fromId: 3, epoch: 1 });
    expect(await store.findCall({ chatId: CHAT, key: parseExecutionKey('4-b') })).toMatchObject({ status: 'detached' });
    await store.takeTurn({ chatId: CHAT, turn: 3, agentId: AGENT });
    expect(await seen(store)).toEqual(['user: hello', 'assistant: a', 'user: text of edit-1']);
  });

  test('G06: asked again it changes nothing, and names again what may still run of what it has hidden', async () => {
    const store = await openConversation();
    const { hiddenCalls } = await store.editMessage(edit(1));
    expect(hiddenCalls.map(({ key }) => key)).toEqual(['2-a', '4-b']);
    expect(await store.checkEdit(edit(1))).toMatchObject({ isDone: true });
    expect(await store.editMessage(edit(1))).toMatchObject({ isNew: false, epoch: 1, hiddenCalls });
    expect((await store.openChat({ chatId: CHAT })).hiddenCalls).toEqual(hiddenCalls);
    await store.recordTruth({ chatId: CHAT, turn: 1, key: parseExecutionKey('2-a'), outcome: exitOutcome(0) });
    expect((await store.openChat({ chatId: CHAT })).hiddenCalls.map(({ key }) => key)).toEqual(['4-b']);
    expect((await store.findChat(CHAT))?.epoch).toBe(1);
  });

  test.each([
    ['of an answer', 2],
    ['of a message that is not there', 9],
  ])('%s is refused in words, and nothing changes', async (_what, messageId) => {
    const store = await openConversation();
    const before = await seen(store);
    const refusal = { code: 'unknown_message', field: 'messageId' };
    await expect(store.checkEdit(edit(messageId))).rejects.toMatchObject(refusal);
    await expect(store.editMessage(edit(messageId))).rejects.toMatchObject(refusal);
    expect(await seen(store)).toEqual(before);
  });

  test('of a hidden message, of an archived chat, and while a turn runs is refused', async () => {
    const store = await openConversation();
    await store.editMessage(edit(3));
    await expect(store.editMessage(edit(3, 'edit-2'))).rejects.toMatchObject({ code: 'unknown_message' });
    await store.takeTurn({ chatId: CHAT, turn: 3, agentId: AGENT });
    await expect(store.editMessage(edit(1, 'edit-2'))).rejects.toMatchObject({ code: 'chat_busy' });
    expect(await store.checkEdit(edit(1, 'edit-2'))).toMatchObject({ isDone: false });
    await store.endTurn({ chatId: CHAT, turn: 3, state: 'completed' });
    await store.archiveChat({ chatId: CHAT, isArchived: true });
    await expect(store.editMessage(edit(1, 'edit-2'))).rejects.toMatchObject({ code: 'chat_archived' });
  });

  test('G06: a truth about a hidden call moves its row and tells the model nothing', async () => {
    const store = await openConversation();
    const key = parseExecutionKey('4-b');
    await store.editMessage(edit(3));
    await store.recordTruth({ chatId: CHAT, turn: 2, key, outcome: exitOutcome(0) });
    expect(await store.findCall({ chatId: CHAT, key })).toMatchObject({ status: 'exited' });
    expect(await seen(store)).toEqual(['user: hello', 'assistant: a']);
  });

  test('G06: what was known late of a call is hidden with it', async () => {
    const store = await openConversation();
    await store.recordTruth({ chatId: CHAT, turn: 2, key: parseExecutionKey('4-b'), outcome: exitOutcome(0) });
    expect(await seen(store)).toHaveLength(5);
    await store.editMessage(edit(3));
    expect(await seen(store)).toEqual(['user: hello', 'assistant: a']);
    const { messages } = await store.listMessages({ chatId: CHAT, limit: 10 });
    expect(messages.map(({ id, notes }) => ({ id, notes }))).toEqual([
      { id: 1, notes: [] },
      { id: 2, notes: [] },
    ]);
  });
});

test('T1: what a step of an earlier epoch still writes into the transcript is refused', async () => {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'interrupted' });
  await store.editMessage(edit(1));
  const late = { text: 'late', calls: [], agentId: AGENT };
  await expect(store.writePart(attempt, 'late')).rejects.toMatchObject({ code: 'turn_closed' });
  await expect(store.commitStep(attempt, late)).rejects.toMatchObject({ code: 'turn_closed' });
  expect(await seen(store)).toEqual([]);
});
