/** The AI SDK's own client, a gateway, and everything behind it: workers, agent, Temporal. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseChatId } from '../../../contract/ids.ts';
import { LiveTails, readTails } from '../../../gateway/stream/live-tails.ts';
import { openGateway, watchOverHttp } from '../../fixtures/gateway.ts';
import type { TestGateway } from '../../fixtures/gateway.ts';
import { linesOf, UiChat } from '../../fixtures/ui-chat.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';
import type { ChatScript } from '../../fixtures/whole-chat.ts';
import { commands, Whole } from '../../fixtures/whole-turn.ts';

async function openUi(
  whole: Whole,
  script: ChatScript,
): Promise<{ chat: WholeChat; gateway: TestGateway; id: string }> {
  const id = `ui-${randomUUID()}`;
  const chat = await WholeChat.open(whole, script, { chatId: parseChatId(id) });
  const { chats, client, create: defaults } = chat;
  const gateway = await openGateway(whole.store, { chats, defaults, tails: new LiveTails(readTails(client)) });
  return { chat, gateway, id };
}

/** A page whose network can be cut. */
async function loadPage(url: string, id: string): Promise<{ page: UiChat; cut: () => void }> {
  const network = new AbortController();
  const page = await UiChat.load({
    url,
    id,
    fetch: (input, init) => fetch(input, { ...init, signal: network.signal }),
  });
  onTestFinished(() => network.abort());
  return { page, cut: () => network.abort(new TypeError('network error')) };
}

const LINES = Array.from({ length: 8 }, (_, index) => `line ${index + 1}`);
const LONG = Array.from({ length: 40 }, (_, index) => `word ${index + 1} of it;`).join(' ');

test('R28: through three reloads, a long cut and a killed worker each part shows once', async () => {
  const whole = await Whole.open();
  const gate = (line: string): string => join(whole.folder.root, line.replace(' ', '-'));
  // It stops at each gate, so that what is seen of it doesn't depend on how fast anybody is.
  const command = `for i in 1 2 3 4 5 6 7 8; do
      echo line $i
      case $i in 2|4|6) until [ -e ${gate('line')}-$i ]; do sleep 0.05; done ;; esac
    done`;
  const { gateway, id } = await openUi(whole, {
    delayMs: 60,
    stepsByText: {
      first: [{ text: 'The first answer.' }],
      count: [{ ...commands({ c: command }), text: 'I count.' }, { text: LONG }],
    },
  });
  const { url } = gateway;
  const sender = new UiChat({ url, id });
  await sender.sendMessage({ text: 'first' });
  expect(linesOf(sender.messages)).toEqual([
    `user ${sender.messages[0]?.id}: first`,
    'assistant turn-1: The first answer.',
  ]);
  const watcher = watchOverHttp(gateway, id);
  void sender.sendMessage({ text: 'count' });
  await watcher.until('a turn has taken it', () => [...watcher.messages.values()].includes('count'));
  const pages: { page: UiChat; cut: () => void }[] = [];
  for (const line of ['line 2', 'line 4', 'line 6']) {
    pages.at(-1)?.cut();
    const loaded = await loadPage(url, id);
    pages.push(loaded);
    void loaded.page.resumeStream();
    await loaded.page.until(`the tail is at ${line}`, () => tailOf(loaded.page) === line);
    expect(linesOf(loaded.page.messages).slice(1, 2)).toEqual(['assistant turn-1: The first answer.']);
    if (line !== 'line 6') writeFileSync(gate(line), '');
  }
  // Cut off from before the end of the command until the model writes again.
  pages.at(-1)?.cut();
  writeFileSync(gate('line 6'), '');
  await watcher.until('the model writes', () => watcher.writing.includes('word 4'));
  const { page } = await loadPage(url, id);
  void page.resumeStream();
  await page.until('the page shows it', () => linesOf(page.messages).at(-1)?.includes('word 4') === true);
  await whole.worker('turn-worker').kill();
  await whole.startTurnWorker();
  await page.until('the turn has ended', () => page.status === 'ready', 60_000);
  const [first, second] = page.messages.flatMap((message) => (message.role === 'user' ? [message.id] : []));
  const result = linesOf(page.messages)[4];
  expect(linesOf(page.messages)).toEqual([
    `user ${first}: first`,
    'assistant turn-1: The first answer.',
    `user ${second}: count`,
    'assistant turn-2: I count.',
    result,
    `assistant turn-2: ${LONG}`,
  ]);
  expect(result?.match(/line \d+/g)).toEqual(LINES);
  const { page: again } = await loadPage(url, id);
  expect(linesOf(again.messages)).toEqual(linesOf(page.messages));
  // Its own sender saw the same, though nobody cut it off.
  await sender.until('it is ready', () => sender.status === 'ready');
  expect(linesOf(sender.messages)).toEqual(linesOf(page.messages));
  await watcher.until('the turn has ended', () => watcher.state === 'idle');
  expect([...watcher.messages.values()]).toEqual(['first', 'The first answer.', 'count', 'I count.', LONG]);
  expect(watcher.types).toContain('withdrawn');
  expect(gateway.log).toEqual([]);
});

function tailOf(page: UiChat): unknown {
  const part = page.messages.at(-1)?.parts.at(-1) as
    { preliminary?: boolean; output?: { lastLine?: string } } | undefined;
  return part?.preliminary === true ? part.output?.lastLine : undefined;
}

test('a page edits, asks again and is stopped from outside; what it shows is what is stored', async () => {
  const whole = await Whole.open();
  const gate = join(whole.folder.root, 'gate');
  const { chat, gateway, id } = await openUi(whole, {
    stepsByText: {
      one: [{ text: 'Answer one.' }],
      two: [{ text: 'Answer two.' }],
      wait: [commands({ w: 'echo begun; sleep 60' }), { text: 'never' }],
      held: [{ text: 'after the gate', holdUntilFile: gate }],
    },
  });
  const { url } = gateway;
  const page = new UiChat({ url, id });
  const post = (path: string, body: object = {}) =>
    fetch(`${url}/v1/chats/${id}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await page.sendMessage({ text: 'one' });
  await page.regenerate();
  expect(linesOf(page.messages)).toEqual([`user ${page.messages[0]?.id}: one`, 'assistant turn-2: Answer one.']);
  await page.sendMessage({ text: 'two', messageId: page.messages[0]!.id });
  expect(linesOf(page.messages)).toEqual([`user ${page.messages[0]?.id}: two`, 'assistant turn-3: Answer two.']);
  const { page: loaded } = await loadPage(url, id);
  expect(linesOf(loaded.messages)).toEqual(linesOf(page.messages));

  void page.sendMessage({ text: 'wait' });
  await page.until('the command runs', () => tailOf(page) === 'begun');
  // What is sent meanwhile waits, and is answered after the interrupt.
  expect(await (await post('/messages', { text: 'held', clientMessageId: 'h' })).json()).toMatchObject({ waiting: 1 });
  await post('/messages', { text: 'unwanted', clientMessageId: 'u' });
  expect(await (await post('/queue/u/promote')).json()).toEqual({ queue: ['u', 'h'] });
  const deleted = await fetch(`${url}/v1/chats/${id}/queue/u`, { method: 'DELETE' });
  expect(await deleted.json()).toEqual({ queue: ['h'] });
  expect(await (await post('/interrupt')).json()).toEqual({ turn: 4 });
  await page.until('the page is told', () => page.status === 'ready');
  expect(linesOf(page.messages).at(-1)).toMatch(/^assistant turn-4: tool-execute \S+ output-error$/);
  const { page: next } = await loadPage(url, id);
  void next.resumeStream();
  writeFileSync(gate, '');
  await next.until(
    'the waiting one is answered',
    () => linesOf(next.messages).at(-1) === 'assistant turn-5: after the gate',
  );
  await next.until('it is ready', () => next.status === 'ready');

  // The page hears of the end from the store, the chat's workflow a moment later from its turn.
  await chat.idle(5);
  expect(await (await post('/archive', { isArchived: true })).json()).toEqual({ isArchived: true });
  const refused = await post('/messages', { text: 'more' });
  expect([refused.status, await refused.json()]).toMatchObject([409, { error: { code: 'chat_archived' } }]);
  expect(await (await fetch(`${url}/v1/chats/${id}`)).json()).toMatchObject({
    chat: { state: 'archived', title: 'one' },
  });
  expect(gateway.log).toEqual([]);
});
