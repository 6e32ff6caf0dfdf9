import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseChatId } from '../../../contract/ids.ts';
import { openStore } from '../../../store/open-store.ts';
import type { Store } from '../../../store/store.ts';
import { ChatWatcher } from '../../fixtures/chat-watcher.ts';
import { AGENT, CHAT, beginTestStep, draftCall, exitOutcome, makeStoreUrl, openStoreWithTurn } from './chat-fixture.ts';

/** A committed step that asked for a call, and a second one of which a part is shown. */
async function writeSteps(store: Store): Promise<void> {
  await store.commitStep(await beginTestStep(store), { text: 'look', calls: [draftCall('a')], agentId: AGENT });
  await store.recordResult({ chatId: CHAT, turn: 1, key: parseExecutionKey('2-a'), outcome: exitOutcome(0) });
  const second = await beginTestStep(store, { step: 2, messageId: 3 });
  await store.writePart(second, 'I s');
  await store.writePart(second, 'ee');
}

const read = (watcher: ChatWatcher) => ({ messages: Object.fromEntries(watcher.messages), writing: watcher.writing });

test('H01: a snapshot begins with the status, then tells messages with calls, what is written, what waits', async () => {
  const store = await openStoreWithTurn();
  await writeSteps(store);
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'and then?' });
  const watcher = ChatWatcher.of(store, CHAT);
  await watcher.until('it is live', () => watcher.cursor !== undefined);
  expect(watcher.types).toEqual(['status', 'chat', 'message', 'message', 'part', 'queued', 'live']);
  expect(watcher.frames[0]).toEqual({ type: 'status', state: 'running', turn: 1, snapshot: true });
  expect(watcher.frames[3]).toMatchObject({
    text: 'look',
    calls: [{ key: '2-a', status: 'exited', arguments: { command: 'echo a' }, result: { text: 'exit 0' } }],
  });
  expect(watcher.frames[4]).toMatchObject({ text: 'I see', messageId: 3 });
  expect(watcher.frames[5]).toMatchObject({ clientMessageId: 'm2', text: 'and then?' });
});

test('H01: two watchers, one who is cut off for a while and one who joins half way see each part once', async () => {
  const store = await openStoreWithTurn();
  const [first, second] = [ChatWatcher.of(store, CHAT), ChatWatcher.of(store, CHAT)];
  const step = await beginTestStep(store);
  const text = Array.from({ length: 30 }, (_, index) => `${index} `);
  let third: ChatWatcher | undefined;
  for (const [index, part] of text.entries()) {
    await store.writePart(step, part);
    if (index === 10) await second.leave();
    if (index === 15) third = ChatWatcher.of(store, CHAT);
    if (index === 20) second.join();
  }
  for (const watcher of [first, second, third!]) {
    await watcher.until('all parts are there', () => watcher.writing === text.join(''));
  }
  await store.commitStep(step, { text: text.join(''), calls: [], agentId: AGENT });
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
  for (const watcher of [first, second, third!]) {
    await watcher.until('the turn has ended', () => watcher.state === 'idle');
    expect(read(watcher)).toEqual({ messages: { 1: 'hello', 2: text.join('') }, writing: '' });
    expect(watcher.resets).toEqual([]);
  }
});

test('S1: a watcher who comes back with its cursor gets what it missed and nothing twice', async () => {
  const store = await openStoreWithTurn();
  const watcher = ChatWatcher.of(store, CHAT);
  await watcher.until('it is live', () => watcher.types.includes('live'));
  await watcher.leave();
  await writeSteps(store);
  watcher.join();
  await watcher.until('it has caught up', () => watcher.writing === 'I see');
  expect(watcher.types.filter((type) => type === 'status' || type === 'live')).toEqual(['status', 'live']);
  expect(read(watcher)).toEqual({ messages: { 1: 'hello', 2: 'look' }, writing: 'I see' });
});

describe('H03', () => {
  test('H03: a cursor from before what is kept is answered with a reset and a full snapshot', async () => {
    const store = await openStoreWithTurn();
    await writeSteps(store);
    await store.pruneEvents({ chatId: CHAT, through: 7 });
    for (const after of [0, 3, 6]) {
      const late = ChatWatcher.of(store, CHAT, after);
      await late.until('it is live', () => late.types.includes('live'));
      expect(late.types.slice(0, 2)).toEqual(['reset', 'status']);
      expect(late.resets).toEqual(['cursor_too_old']);
      expect(read(late)).toEqual({ messages: { 1: 'hello', 2: 'look' }, writing: 'I see' });
    }
    const inTime = ChatWatcher.of(store, CHAT, 7);
    await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'next' });
    await inTime.until('it hears of the next event', () => inTime.types.includes('queued'));
    expect(inTime.resets).toEqual([]);
  });

  test('H03: parts of the running step survive what is dropped', async () => {
    const store = await openStoreWithTurn();
    await writeSteps(store);
    await store.pruneEvents({ chatId: CHAT, through: 1000 });
    const watcher = ChatWatcher.of(store, CHAT);
    await watcher.until('it has the text', () => watcher.writing === 'I see');
  });

  test('H03: a cursor ahead of the store, as after a rollback, is answered with a reset', async () => {
    const store = await openStoreWithTurn();
    const watcher = ChatWatcher.of(store, CHAT, 4000);
    await watcher.until('it is live', () => watcher.types.includes('live'));
    expect(watcher.resets).toEqual(['cursor_ahead']);
    expect(read(watcher)).toEqual({ messages: { 1: 'hello' }, writing: '' });
  });
});

test('H04: parts of a withdrawn attempt never show after the event that ended it', async () => {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.writePart(attempt, 'half an ans');
  const watcher = ChatWatcher.of(store, CHAT);
  await watcher.until('it has the part', () => watcher.writing === 'half an ans');
  const away = ChatWatcher.of(store, CHAT, 5);
  await away.until('it has the part', () => away.writing === 'half an ans');
  await away.leave();
  const second = await beginTestStep(store, { attemptScheduledMs: 2 });
  await expect(store.writePart(attempt, 'wer of the dead')).rejects.toThrow(/another attempt/);
  await store.writePart(second, 'the answer');
  away.join();
  const late = ChatWatcher.of(store, CHAT);
  for (const each of [watcher, away, late]) {
    await each.until('it has the second text', () => each.writing === 'the answer');
  }
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'interrupted' });
  for (const each of [watcher, away, late]) {
    await each.until('the turn has ended', () => each.state === 'idle');
    expect(each.writing).toBe('');
    const end = each.frames.findIndex((frame) => frame.type === 'status' && frame.state === 'idle');
    expect(each.types.slice(end)).toEqual(['status', 'turn']);
    expect(each.types.slice(0, end).at(-1)).toBe('withdrawn');
  }
  const afterwards = ChatWatcher.of(store, CHAT);
  await afterwards.until('it is live', () => afterwards.types.includes('live'));
  expect(afterwards.types).toEqual(['status', 'chat', 'message', 'live']);
});

test('I12: with every notification dropped a watcher is at most a second late', async () => {
  const url = await makeStoreUrl();
  const writer = await openStore(url);
  const reader = await openStore(url, { dropsNotifications: true });
  try {
    await writer.createChat({ chatId: CHAT, agentId: AGENT });
    const watcher = ChatWatcher.of(reader, CHAT);
    await watcher.until('it is live', () => watcher.types.includes('live'));
    for (let round = 1; round <= 3; round += 1) {
      // At other moments of the look's period each time.
      await delay(130 * round);
      await writer.enqueueUserMessage({ chatId: CHAT, clientMessageId: `m${round}`, text: 'x' });
      const begun = performance.now();
      await watcher.until('it has heard', () => watcher.types.filter((type) => type === 'queued').length === round);
      expect(performance.now() - begun).toBeLessThan(1000);
    }
    await watcher.leave();
  } finally {
    await reader.close();
    await writer.close();
  }
});

test('a watcher of a chat that is not there is refused by code', async () => {
  const store = await openStoreWithTurn();
  const watcher = ChatWatcher.of(store, parseChatId('nowhere'));
  await expect(watcher.until('it fails', () => false, 500)).rejects.toThrow(/no chat nowhere/);
});
