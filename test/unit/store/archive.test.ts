import { expect, test } from 'vitest';
import type { Client } from '@temporalio/client';
import { readOutput } from '../../../client/read-output.ts';
import type { Store } from '../../../store/store.ts';
import { asStream, compared, COPY, exportLines, fillChat } from './archive-fixture.ts';
import { AGENT, CHAT, openStoreWithTurn, openTestStore } from './chat-fixture.ts';

async function openFullChat(): Promise<Store> {
  const store = await openTestStore();
  await fillChat(store);
  return store;
}

test('an imported call says that its output stayed where it ran', async () => {
  const store = await openFullChat();
  await store.importChat({ chatId: COPY, lines: asStream(await exportLines(store)) });
  const ran = (await store.listCalls({ chatId: COPY })).filter(({ exitCode }) => exitCode !== undefined);
  expect(ran.length).toBeGreaterThan(0);
  for (const { key } of ran) {
    // Nobody is asked.
    const asked = { client: {} as Client, taskQueue: 'none', store };
    await expect(readOutput(asked, COPY, { key })).rejects.toMatchObject({
      code: 'unknown_process',
      message: `call ${key} was imported: its output stays with the machine that it ran on`,
    });
  }
});

test('a chat that is exported and imported is the same chat under another id, and can be exported again', async () => {
  const store = await openFullChat();
  const lines = await exportLines(store);
  expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(
    'latchkey-chat chat message message call call call message message note step step turn turn end'.split(' '),
  );
  const imported = await store.importChat({ chatId: COPY, lines: asStream(lines) });
  expect(imported).toEqual({ chatId: COPY, agentId: AGENT, messages: 4, calls: 3, notes: 1, steps: 2, turns: 2 });
  const again = compared(await exportLines(store, COPY));
  // A settle asks for the original only.
  expect(again).toEqual(compared(lines.map((line) => line.replace('"cancel_requested"', '"unknown"'))));
  const [original, copy] = [await store.loadConversation(CHAT), await store.loadConversation(COPY)];
  expect(copy.map((message) => ({ ...message, chatId: CHAT }))).toMatchObject(
    original.map((message) => ('calls' in message ? { ...message, calls: expect.anything() } : message)),
  );
  expect(await store.listUsage({ chatId: COPY })).toEqual(await store.listUsage({ chatId: CHAT }));
});

test('K5: no call of a copy has a target or the nonce of the original, so nothing of it reaches a process', async () => {
  const store = await openFullChat();
  const lines = await exportLines(store);
  expect(lines.join('\n')).not.toMatch(/nonce\.\d/);
  await store.importChat({ chatId: COPY, lines: asStream(lines) });
  const [originals, copies] = [await store.listCalls({ chatId: CHAT }), await store.listCalls({ chatId: COPY })];
  expect(originals.every(({ target }) => target !== undefined)).toBe(true);
  expect(copies.filter(({ target }) => target !== undefined)).toEqual([]);
  expect(copies.map(({ key, result }) => ({ key, result }))).toEqual(
    originals.map(({ key, result }) => ({ key, result })),
  );
  const nonces = new Set([...originals, ...copies].map(({ nonce }) => nonce));
  expect(nonces.size).toBe(6);
  // A sweep settles what is still asked for: of the copy that is nothing.
  expect((await store.listUnfinished()).calls.map(({ chatId }) => chatId)).toEqual([CHAT]);
});

test('a copy goes on: the next turn has the next number, and ids above those that were taken', async () => {
  const store = await openFullChat();
  await store.importChat({ chatId: COPY, lines: asStream(await exportLines(store)) });
  await store.enqueueUserMessage({ chatId: COPY, clientMessageId: 'm1', text: 'go on' });
  expect(await store.reserveNextTurn(COPY)).toBe(3);
  expect(await store.takeTurn({ chatId: COPY, turn: 3, agentId: AGENT })).toMatchObject({ highestMessageId: 5 });
  expect((await store.loadConversation(COPY)).at(-1)).toMatchObject({ role: 'user', id: 5, text: 'go on' });
});

test('a chat whose turn runs is not exported, nor one that nobody has; a chat id that is taken is refused', async () => {
  const running = await openStoreWithTurn();
  await expect(exportLines(running)).rejects.toMatchObject({
    code: 'chat_busy',
    message: expect.stringMatching(/turn 1 .* is running/),
  });
  await expect(exportLines(running, COPY)).rejects.toMatchObject({ code: 'unknown_chat' });
  await running.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
  const lines = asStream(await exportLines(running));
  await expect(running.importChat({ chatId: CHAT, lines })).rejects.toMatchObject({
    code: 'bad_request',
    field: 'chatId',
  });
});

test('a chat that changes while it is exported is refused at its end', async () => {
  const store = await openFullChat();
  const lines = store.exportChat(CHAT);
  await lines.next();
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm3', text: 'in between' });
  const read = async () => {
    for await (const _ of lines);
  };
  await expect(read()).rejects.toMatchObject({ code: 'chat_busy', message: expect.stringMatching(/changed while/) });
});

type Edit = (lines: string[]) => string[];
const edited =
  (index: number, change: object): Edit =>
  (lines) =>
    lines.map((line, at) => (at === index ? JSON.stringify({ ...(JSON.parse(line) as object), ...change }) : line));

test.each<[string, Edit, RegExp]>([
  ['is empty', () => [], /^line 1: type: .*was cut/],
  ['is something else', () => ['{"hello":1}'], /^line 1: type: this is no file that latchkey export wrote/],
  ['is no JSON', (lines) => lines.with(3, '{"type"'), /^line 4: the line: it is not JSON/],
  ['is of another version', edited(0, { version: 9 }), /^line 1: version: it is 9, and this latchkey reads 1/],
  ['was cut', (lines) => lines.slice(0, -3), /^line 13: type: the file ends before/],
  ['lacks a line', (lines) => lines.toSpliced(8, 1), /^line 14: messages: the file has 3 and should have 4/],
  ['has a field of another kind', edited(2, { text: 7 }), /^line 3: text: .*expected string/],
  ['has a field that nobody knows', edited(2, { colour: 'red' }), /^line 3: .*colour/],
  ['has a status that nobody knows', edited(4, { status: 'asleep' }), /^line 5: status: /],
  ['has an id that does not grow', edited(3, { id: 1 }), /^line 4: id: ids of messages grow/],
  ['has an id above the highest', edited(3, { id: 99 }), /^line 4: id: .*highestMessageId/],
  ["has a call under another message's key", edited(4, { key: '3-a' }), /^line 5: key: /],
  ['has a call without its result', edited(4, { result: null }), /^line 5: result: /],
  ['has its lines in another order', (lines) => lines.toSpliced(1, 2, lines[2]!, lines[1]!), /^line 2: type: /],
  ['goes on after its end', (lines) => [...lines, lines.at(-1)!], /^line 16: type: /],
])('a file that %s is refused by line and field, and nothing of it is stored', async (_name, edit, message) => {
  const store = await openFullChat();
  const lines = asStream(edit(await exportLines(store)));
  await expect(store.importChat({ chatId: COPY, lines })).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringMatching(message),
  });
  expect(await store.findChat(COPY)).toBeUndefined();
});
