import { describe, expect, test } from 'vitest';
import { QUEUED_MESSAGES_MAX } from '../../../contract/limits.ts';
import type { Store } from '../../../store/store.ts';
import { AGENT, CHAT, openTestStore } from './chat-fixture.ts';

const take = { chatId: CHAT, agentId: AGENT };

async function openStoreWithChat(): Promise<Store> {
  const store = await openTestStore();
  await store.openChat({ chatId: CHAT, create: { agentId: AGENT, model: 'scripted:x' } });
  return store;
}

function send(store: Store, id: string, place: 'back' | 'front' = 'back') {
  return store.enqueueUserMessage({ chatId: CHAT, clientMessageId: id, text: `text of ${id}`, place });
}

async function lastEvent(store: Store, type: string) {
  const events = await store.readEvents({ chatId: CHAT, after: 0, limit: 1000 });
  return events.findLast((event) => event.type === type);
}

describe('the queue', () => {
  test('T2: what is put in front is answered next, the rest in the order in which it came', async () => {
    const store = await openStoreWithChat();
    for (const id of ['m1', 'm2', 'm3']) await send(store, id);
    expect(await send(store, 'urgent', 'front')).toMatchObject({ queue: ['urgent', 'm1', 'm2', 'm3'] });
    const name = { chatId: CHAT, clientMessageId: 'm3' };
    expect((await store.promoteQueued(name)).queue).toEqual(['m3', 'urgent', 'm1', 'm2']);
    expect((await store.promoteQueued(name)).queue).toEqual(['m3', 'urgent', 'm1', 'm2']);
    expect(await lastEvent(store, 'queue')).toMatchObject({ queue: ['m3', 'urgent', 'm1', 'm2'] });
    expect((await send(store, 'm4')).queue).toEqual(['m3', 'urgent', 'm1', 'm2', 'm4']);
    for (const turn of [1, 2, 3, 4, 5]) {
      await store.takeTurn({ ...take, turn });
      await store.endTurn({ chatId: CHAT, turn, state: 'completed' });
    }
    const said = (await store.loadConversation(CHAT)).map(({ text }) => text.replace('text of ', ''));
    expect(said).toEqual(['m3', 'urgent', 'm1', 'm2', 'm4']);
  });

  test('G08: takes 20 messages, refuses one more in words, and takes it when there is room again', async () => {
    const store = await openStoreWithChat();
    for (let n = 1; n <= QUEUED_MESSAGES_MAX; n += 1) await send(store, `m${n}`);
    await expect(send(store, 'late')).rejects.toMatchObject({ code: 'queue_full', message: /20 messages wait/ });
    await expect(send(store, 'late', 'front')).rejects.toMatchObject({ code: 'queue_full' });
    // One that was accepted before is no new one.
    expect(await send(store, 'm7')).toMatchObject({ isNew: false });
    await store.deleteQueued({ chatId: CHAT, clientMessageId: 'm3' });
    expect((await send(store, 'late')).queue).toHaveLength(QUEUED_MESSAGES_MAX);
  });

  test('G08: a message is taken back once, for good, and never when a turn has it', async () => {
    const store = await openStoreWithChat();
    for (const id of ['m1', 'm2']) await send(store, id);
    const m2 = { chatId: CHAT, clientMessageId: 'm2' };
    expect((await store.deleteQueued(m2)).queue).toEqual(['m1']);
    expect((await store.deleteQueued(m2)).queue).toEqual(['m1']);
    await expect(store.promoteQueued(m2)).rejects.toMatchObject({ code: 'unknown_message' });
    // Its sender's late repeat doesn't bring it back.
    expect(await send(store, 'm2')).toMatchObject({ isNew: false, queue: ['m1'] });
    expect(await store.findQueuedMessage(m2)).toEqual({ isDeleted: true });
    await store.claimNextTurn({ chatId: CHAT });
    const m1 = { chatId: CHAT, clientMessageId: 'm1' };
    const taken = { code: 'unknown_message', message: /turn 1 has taken it/, field: 'clientMessageId' };
    await expect(store.deleteQueued(m1)).rejects.toMatchObject(taken);
    await expect(store.promoteQueued(m1)).rejects.toMatchObject(taken);
    const nobody = { chatId: CHAT, clientMessageId: 'nobody' };
    await expect(store.deleteQueued(nobody)).rejects.toMatchObject({ code: 'unknown_message', message: /no message/ });
  });
});

describe('a claim', () => {
  test('T2: binds one message to one turn: asked again it is the same, and what comes in front later is not taken by it', async () => {
    const store = await openStoreWithChat();
    for (const id of ['m1', 'm2']) await send(store, id);
    const claim = { turn: 1, isRunning: false, clientMessageId: 'm1', summary: 'text of m1' };
    expect(await store.claimNextTurn({ chatId: CHAT })).toMatchObject({ claim, queue: ['m2'] });
    expect(await store.claimNextTurn({ chatId: CHAT })).toMatchObject({ claim, queue: ['m2'] });
    await send(store, 'urgent', 'front');
    await store.takeTurn({ ...take, turn: 1 });
    expect((await store.loadConversation(CHAT)).map(({ text }) => text)).toEqual(['text of m1']);
    expect((await store.claimNextTurn({ chatId: CHAT })).claim).toEqual({ turn: 1, isRunning: true, summary: '' });
    await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
    expect((await store.claimNextTurn({ chatId: CHAT })).claim).toMatchObject({ turn: 2, clientMessageId: 'urgent' });
  });

  test('T2: of a turn that ended without having taken its message goes to another turn', async () => {
    const store = await openStoreWithChat();
    await send(store, 'm1');
    await store.claimNextTurn({ chatId: CHAT });
    await store.endTurn({ chatId: CHAT, turn: 1, state: 'failed', error: { code: 'turn_lost', message: 'x' } });
    expect((await store.claimNextTurn({ chatId: CHAT })).claim).toMatchObject({ turn: 2, clientMessageId: 'm1' });
  });

  test('I02: whose number was used before moves on, and that number stays closed', async () => {
    const store = await openStoreWithChat();
    await send(store, 'm1');
    await store.claimNextTurn({ chatId: CHAT });
    const insteadOf = { turn: 1, skip: 4 };
    expect((await store.claimNextTurn({ chatId: CHAT, insteadOf })).claim).toMatchObject({ turn: 5 });
    expect((await store.claimNextTurn({ chatId: CHAT, insteadOf })).claim).toMatchObject({ turn: 5 });
    await expect(store.takeTurn({ ...take, turn: 1 })).rejects.toMatchObject({ code: 'turn_closed' });
    expect(await store.takeTurn({ ...take, turn: 5 })).toEqual({ highestMessageId: 1 });
  });

  test('is none where nothing waits', async () => {
    const store = await openStoreWithChat();
    expect(await store.claimNextTurn({ chatId: CHAT })).not.toHaveProperty('claim');
  });
});

describe('a chat', () => {
  test('G08: is archived only while nothing runs or waits, takes no message then, and is opened again', async () => {
    const store = await openStoreWithChat();
    await send(store, 'm1');
    const archive = (isArchived: boolean) => store.archiveChat({ chatId: CHAT, isArchived });
    await expect(archive(true)).rejects.toMatchObject({ code: 'chat_busy', message: /messages wait/ });
    await store.takeTurn({ ...take, turn: 1 });
    await expect(archive(true)).rejects.toMatchObject({ code: 'chat_busy', message: /turn 1/ });
    await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
    expect(await archive(true)).toMatchObject({ isArchived: true });
    expect(await lastEvent(store, 'chat')).toMatchObject({ isArchived: true });
    await expect(send(store, 'm2')).rejects.toMatchObject({ code: 'chat_archived' });
    expect(await send(store, 'm1')).toMatchObject({ isNew: false });
    expect(await archive(false)).toMatchObject({ isArchived: false });
    expect(await send(store, 'm2')).toMatchObject({ isNew: true });
  });

  test('is opened as its rows are, gets the model that it lacked, and is not made unless asked', async () => {
    const store = await openTestStore();
    await expect(store.openChat({ chatId: CHAT })).rejects.toMatchObject({ code: 'unknown_chat' });
    await store.createChat({ chatId: CHAT, agentId: AGENT });
    const create = { agentId: AGENT, model: 'scripted:x' };
    expect(await store.openChat({ chatId: CHAT, create })).toMatchObject({ model: 'scripted:x' });
    expect(await store.openChat({ chatId: CHAT, create: { ...create, model: 'other' } })).toMatchObject({
      agentId: AGENT,
      model: 'scripted:x',
      hiddenCalls: [],
    });
  });

  test('is bound anew, and tells its watchers', async () => {
    const store = await openStoreWithChat();
    expect(await store.bindChat({ chatId: CHAT, model: 'scripted:y' })).toMatchObject({
      agentId: AGENT,
      model: 'scripted:y',
    });
    expect(await lastEvent(store, 'chat')).toMatchObject({ agentId: AGENT, model: 'scripted:y' });
    expect(await store.findChat(CHAT)).toMatchObject({ model: 'scripted:y' });
  });

  test.each([
    ['its first line', 'Mend the\tbuild \nand more', 'Mend the\tbuild …'],
    ['80 characters of it at most, at a character border', '😀'.repeat(60), `${'😀'.repeat(39)}…`],
  ])('has %s for a title', async (_what, text, title) => {
    const store = await openStoreWithChat();
    await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm1', text });
    await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'another' });
    const chat = await store.findChat(CHAT);
    expect(chat?.title).toBe(title);
    expect(await lastEvent(store, 'chat')).toMatchObject({ title });
  });
});
