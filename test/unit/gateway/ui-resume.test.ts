/** The AI SDK's own client against a real gateway; what happens in the chat is written into its store. */
import { describe, expect, test } from 'vitest';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import type { Store } from '../../../store/store.ts';
import { openGateway } from '../../fixtures/gateway.ts';
import { linesOf, UiChat } from '../../fixtures/ui-chat.ts';
import { AGENT, CHAT, beginTestStep, draftCall, exitOutcome, openStoreWithTurn } from '../store/chat-fixture.ts';

async function open(): Promise<{ store: Store; url: string; load: () => Promise<UiChat> }> {
  const store = await openStoreWithTurn();
  const { url } = await openGateway(store);
  return { store, url, load: () => UiChat.load({ url, id: CHAT }) };
}

const end = (store: Store) => store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });

describe('R28', () => {
  test('R28: each part shows once through reloads and cuts, and the answer before stays as it was', async () => {
    const { store, url, load } = await open();
    await store.commitStep(await beginTestStep(store), { text: 'the first answer', calls: [], agentId: AGENT });
    await end(store);
    await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'again' });
    const turn = await store.reserveNextTurn(CHAT);
    await store.takeTurn({ chatId: CHAT, turn, agentId: AGENT });
    const begun = await store.beginStep({
      chatId: CHAT,
      turn,
      step: 1,
      messageId: parseMessageId(4),
      stepNonce: 'nonce-2',
      attemptScheduledMs: 1,
    });
    if (begun.state !== 'begun') throw new Error('committed');
    const pages: UiChat[] = [];
    const cuts: AbortController[] = [];
    let text = '';
    for (let line = 1; line <= 12; line += 1) {
      if (line % 4 === 1) {
        // A page is loaded again; the one before was cut off.
        cuts.at(-1)?.abort();
        const cut = new AbortController();
        cuts.push(cut);
        const page = await UiChat.load({
          url,
          id: CHAT,
          fetch: (input, init) =>
            fetch(input, {
              ...init,
              signal: AbortSignal.any([cut.signal, init?.signal].filter((s) => s instanceof AbortSignal)),
            }),
        });
        pages.push(page);
        void page.resumeStream();
      }
      text += `line ${line}\n`;
      await store.writePart(begun.attempt, `line ${line}\n`);
    }
    const page = pages.at(-1)!;
    await page.until('all lines are there', () => linesOf(page.messages).at(-1)?.endsWith('line 12\n') === true);
    await store.commitStep(begun.attempt, { text, calls: [], agentId: AGENT });
    await store.endTurn({ chatId: CHAT, turn, state: 'completed' });
    await page.until('it is ready', () => page.status === 'ready');
    const shown = [
      'user m1: hello',
      'assistant turn-1: the first answer',
      'user m2: again',
      `assistant turn-2: ${text}`,
    ];
    expect(linesOf(page.messages)).toEqual(shown);
    expect(linesOf((await load()).messages)).toEqual(shown);
    expect(page.errors).toEqual([]);
  });

  test('R28: a page that lost its connection takes up the same message', async () => {
    const { store, url } = await open();
    const attempt = await beginTestStep(store);
    await store.writePart(attempt, 'one ');
    let cut = new AbortController();
    const page = await UiChat.load({
      url,
      id: CHAT,
      fetch: (input, init) => fetch(input, { ...init, signal: cut.signal }),
    });
    void page.resumeStream();
    await page.until('the first part shows', () => linesOf(page.messages).at(-1) === 'assistant turn-1: one ');
    cut.abort(new TypeError('network error'));
    await page.until('it noticed', () => page.status === 'error');
    await store.writePart(attempt, 'two ');
    cut = new AbortController();
    void page.resumeStream();
    await page.until('the second part shows', () => linesOf(page.messages).at(-1) === 'assistant turn-1: one two ');
    expect(linesOf(page.messages)).toEqual(['user m1: hello', 'assistant turn-1: one two ']);
  });
});

test('H04: an attempt that was withdrawn is taken back from the page', async () => {
  const { store, load } = await open();
  const page = await load();
  const first = await beginTestStep(store);
  await store.writePart(first, 'half an ans');
  void page.resumeStream();
  await page.until('the half shows', () => linesOf(page.messages).at(-1) === 'assistant turn-1: half an ans');
  const second = await beginTestStep(store, { attemptScheduledMs: 2 });
  await page.until('it is gone', () => linesOf(page.messages).length === 1);
  await store.writePart(second, 'the answer');
  await page.until('the answer shows', () => linesOf(page.messages).at(-1) === 'assistant turn-1: the answer');
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'interrupted' });
  await page.until('it is ready', () => page.status === 'ready');
  expect(linesOf(page.messages)).toEqual(['user m1: hello']);
});

test('a page shows calls with their results, and a reloaded one the very same messages', async () => {
  const { store, load } = await open();
  const page = await load();
  void page.resumeStream();
  const attempt = await beginTestStep(store);
  await store.writePart(attempt, 'loo');
  await store.commitStep(attempt, { text: 'look', calls: [draftCall('a'), draftCall('b')], agentId: AGENT });
  await store.recordResult({ chatId: CHAT, turn: 1, key: parseExecutionKey('2-b'), outcome: exitOutcome(1) });
  await page.until('one result shows', () => linesOf(page.messages).some((line) => line.endsWith('2-b exit 1')));
  await store.recordResult({
    chatId: CHAT,
    turn: 1,
    key: parseExecutionKey('2-a'),
    outcome: {
      status: 'unknown',
      evidence: { code: 'trust_window', detail: 'silent' },
      text: 'outcome unknown',
    },
  });
  const last = await beginTestStep(store, { step: 2, messageId: 3 });
  await store.commitStep(last, { text: 'done', calls: [], agentId: AGENT });
  await end(store);
  await page.until('it is ready', () => page.status === 'ready' && linesOf(page.messages).length === 5);
  expect(linesOf(page.messages)).toEqual([
    'user m1: hello',
    'assistant turn-1: look',
    'assistant turn-1: tool-execute 2-a output-error',
    'assistant turn-1: tool-execute 2-b exit 1',
    'assistant turn-1: done',
  ]);
  const plain = (chat: UiChat): unknown => JSON.parse(JSON.stringify(chat.messages));
  expect(plain(page)).toEqual(plain(await load()));
});

test('a failed turn is an error of the page, with its code', async () => {
  const { store, load } = await open();
  const page = await load();
  void page.resumeStream();
  await page.until('it streams', () => page.status === 'submitted');
  const error = { code: 'model_unauthorized', message: 'the key is refused' };
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'failed', error });
  await page.until('it says so', () => page.status === 'error');
  expect(page.error?.message).toBe('model_unauthorized: the key is refused');
});

test('a page that waits for a message is let go when that is taken out of the queue', async () => {
  const { store, url, load } = await open();
  await end(store);
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'later' });
  const page = await load();
  const resumed = page.resumeStream();
  await page.until('it waits', () => page.status === 'submitted');
  await store.deleteQueued({ chatId: CHAT, clientMessageId: 'm2' });
  await resumed;
  expect([page.status, page.errors]).toEqual(['ready', []]);
  expect((await fetch(`${url}/api/chat/${CHAT}/stream`)).status).toBe(204);
});

test('when nothing runs there is nothing to resume', async () => {
  const { store, url, load } = await open();
  await end(store);
  const page = await load();
  await page.resumeStream();
  expect(page.status).toBe('ready');
  expect((await fetch(`${url}/api/chat/${CHAT}/stream`)).status).toBe(204);
  expect((await fetch(`${url}/api/chat/not-yet/stream`)).status).toBe(204);
});
