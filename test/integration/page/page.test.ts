import { DatabaseSync } from 'node:sqlite';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { LiveTails } from '../../../gateway/stream/live-tails.ts';
import type { Tail } from '../../../gateway/stream/live-tails.ts';
import type { Handle } from '../../../contract/ids.ts';
import type { ChatActions } from '../../../gateway/chat-actions.ts';
import type { Store } from '../../../store/store.ts';
import { findBrowser, keepScreenshot, launchBrowser } from '../../fixtures/browser.ts';
import { openGateway } from '../../fixtures/gateway.ts';
import { PageUser } from '../../fixtures/page-user.ts';
import {
  AGENT,
  CHAT,
  TARGET,
  beginTestStep,
  draftCall,
  exitOutcome,
  makeStoreUrl,
  openStoreWithTurn,
  openTestStore,
} from '../../unit/store/chat-fixture.ts';

const found = await findBrowser();
if ('skipReason' in found) console.warn(`the gateway's page was NOT looked at: ${found.skipReason}`);

describe.skipIf('skipReason' in found)('the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser('path' in found ? found.path : '');
  });
  afterAll(() => browser?.close());

  test('H01, R28: two tabs show each thing once through a reload and a cut, and go on by themselves', async () => {
    const store = await openStoreWithTurn();
    const gateway = await openGateway(store);
    const port = Number(new URL(gateway.url).port);
    const tabs = [await PageUser.open(browser, gateway.url), await PageUser.open(browser, gateway.url)];
    const all = (what: string, lines: readonly string[]) => Promise.all(tabs.map((tab) => tab.sees(what, lines)));
    for (const tab of tabs) await tab.goTo(CHAT);
    const step = await beginTestStep(store);
    await store.writePart(step, 'one ');
    await all('the first part', ['You: hello', 'Model, writing: one ']);
    await tabs[1]?.page.reload();
    await store.writePart(step, 'two ');
    await all('a part after the reload', ['You: hello', 'Model, writing: one two ']);

    await gateway.stop();
    await Promise.all(tabs.map((tab) => tab.seesStatus('Connection lost')));
    await store.writePart(step, 'three');
    const again = await openGateway(store, { port });
    await all('what was written in the meantime', ['You: hello', 'Model, writing: one two three']);
    await store.commitStep(step, { text: 'one two three', calls: [], agentId: AGENT });
    await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
    await all('the message in place of its parts', ['You: hello', 'Model: one two three']);

    // H03: what came in the meantime was dropped, so that the page is told to begin anew.
    await again.stop();
    await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'second' });
    const last = (await store.readEvents({ chatId: CHAT, after: 0, limit: 1000 })).at(-1)?.seq ?? 0;
    await store.pruneEvents({ chatId: CHAT, through: last });
    await openGateway(store, { port });
    await Promise.all(tabs.map((tab) => tab.seesQueue(['second'])));
    await all('the conversation once', ['You: hello', 'Model: one two three']);
    expect(tabs.flatMap(({ complaints }) => complaints)).toEqual([]);
  });

  test('text that looks like markup is text wherever it is shown, and no script of it runs', async () => {
    const evil = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>';
    const store = await openTestStore();
    await store.createChat({ chatId: CHAT, agentId: AGENT, model: evil });
    await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm1', text: evil });
    await store.takeTurn({ chatId: CHAT, turn: await store.reserveNextTurn(CHAT), agentId: AGENT });
    await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: evil, text: `queued ${evil}` });
    const tail: Tail = { type: 'tail', key: '2-a', state: 'started', attempt: 1, phase: 'running', lastLine: evil };
    const user = await openPage(store, { tails: new LiveTails(async () => [tail]) });
    const evilCall = { ...draftCall('a'), argumentsJson: JSON.stringify({ command: evil }), summary: `$ ${evil}` };
    const text = `${evil}\n\`\`\`html\n${evil}\n\`\`\`\n`;
    await store.commitStep(await beginTestStep(store), { text, calls: [evilCall, draftCall('b')], agentId: AGENT });
    const outcome = exitOutcome(1, evil);
    await store.recordResult({ chatId: CHAT, turn: 1, key: parseExecutionKey('2-b'), outcome });
    await user.page.locator('.call .tail').first().waitFor();
    await user.page.locator('.call summary').last().click();
    await user.seesQueue([`queued ${evil}`]);
    for (const place of [
      '#title',
      '#binding',
      '#chat-list .name',
      '.message.user .text',
      '.call code',
      '.tail',
      'pre',
    ]) {
      expect(await user.page.locator(place).first().textContent(), place).toContain(evil);
    }
    expect(await user.page.locator('img, body script').count()).toBe(0);
    expect(await user.page.evaluate('window.ran')).toBeUndefined();
    expect(user.complaints).toEqual([]);
    // Also what the page itself would do by mistake is refused by its policy.
    const injected = `document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.ran=1">')`;
    await expect(user.page.evaluate(injected)).rejects.toThrow('TrustedHTML');
  });

  test('a chat of 5,000 messages shows its newest, and earlier ones page by page without a jump', async () => {
    const url = await makeStoreUrl();
    const store = await openTestStore(url);
    await store.createChat({ chatId: CHAT, agentId: AGENT });
    fillChat(url.replace('sqlite:', ''), 5000);
    const user = await openPage(store);
    const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `You: message ${from + n}`);
    await user.sees('the newest 50', ids(4951, 5001));
    const end = `(() => { const log = document.getElementById('log');
      return Math.round(log.scrollHeight - log.scrollTop - log.clientHeight) })()`;
    expect(await user.page.evaluate(end)).toBeLessThanOrEqual(1);
    const top = `Math.round([...document.querySelectorAll('.message')]
      .find((each) => each.textContent.includes('message 4951')).getBoundingClientRect().top)`;
    await user.page.evaluate(`document.getElementById('log').scrollTop = 0`);
    const before = await user.page.evaluate(top);
    await user.button('Load earlier messages').click();
    await user.sees('50 more', ids(4901, 5001));
    expect(Math.abs((await user.page.evaluate<number>(top)) - (before as number))).toBeLessThanOrEqual(2);
    await user.button('Load earlier messages').click();
    await user.sees('50 more', ids(4851, 5001));
    await user.button('To the newest').click();
    expect(await user.page.evaluate(end)).toBeLessThanOrEqual(1);
    expect(user.complaints).toEqual([]);
  });

  test('a gateway with tokens is asked with one, which is kept in the tab and nowhere else', async () => {
    const token = 'a-token-of-enough-characters';
    const store = await openStoreWithTurn();
    const gateway = await openGateway(store, { tokens: JSON.stringify([{ name: 'me', token, chats: '*' }]) });
    const user = await PageUser.open(browser, gateway.url);
    await user.goTo(CHAT);
    const field = user.page.getByLabel('Bearer token of this gateway');
    for (const [wrong, why] of [
      ['not the one', 'A token is of ASCII'],
      ['not-the-one', 'The token was refused'],
    ] as const) {
      await field.fill(wrong);
      await field.press('Enter');
      await user.until(
        'it is asked for again',
        async () =>
          (await field.inputValue()) === '' &&
          (await field.isVisible()) &&
          (await user.page.locator('#token-why').innerText()).startsWith(why),
      );
    }
    await field.fill(token);
    await field.press('Enter');
    await user.sees('the chat', ['You: hello']);
    await user.page.reload();
    await user.sees('the chat without being asked', ['You: hello']);
    expect(await user.page.locator('dialog[open]').count()).toBe(0);
    const kept = await user.page.evaluate('JSON.stringify([{ ...localStorage }, document.cookie, location.href])');
    expect(kept).not.toContain(token);
    const other = await PageUser.open(browser, gateway.url);
    await other.goTo(CHAT);
    await other.page.getByRole('dialog', { name: 'A token is needed' }).waitFor();
    expect(await other.said()).toEqual([]);
  });

  test('a card shows how long its command ran, and what the gateway could not be asked is mended when it is back', async () => {
    const store = await openStoreWithTurn();
    const calls = [draftCall('a'), draftCall('b')];
    await store.commitStep(await beginTestStep(store), { text: 'look', calls, agentId: AGENT });
    const ended = { ...exitOutcome(0), exit: { code: 0, durationMs: 83_000 } };
    const evidence = { code: 'background', detail: 'It was started in the background.', target: TARGET } as const;
    const detached = { status: 'detached', evidence, text: 'it goes on', handle: 'p-1' as Handle } as const;
    for (const [id, outcome] of [
      ['2-a', ended],
      ['2-b', detached],
    ] as const) {
      await store.recordResult({ chatId: CHAT, turn: 1, key: parseExecutionKey(id), outcome });
    }
    const output = async () => ({ text: 'what it printed', detail: '' });
    const chats = { output } as Partial<ChatActions> as ChatActions;
    const gateway = await openGateway(store, { chats });
    const user = await PageUser.open(browser, gateway.url);
    await user.goTo(CHAT);
    await user.sees('both calls', (said) => said.length === 4);
    expect(await user.page.locator('.call .facts').first().innerText()).toContain('exit 0 · 1 min 23 s');

    await gateway.stop();
    await user.seesStatus('Connection lost');
    const problem = user.page.locator('#problem');
    const shown = user.page.locator('.call pre[aria-label="Output so far"]').last();
    const unreached = 'The gateway could not be reached.';
    await user.button('Stop').click();
    await user.page.locator('.call summary:visible', { hasText: 'Output so far' }).click();
    await user.until('both could not be asked', async () => {
      return (await problem.innerText()) === unreached && (await shown.innerText()) === unreached;
    });
    await openGateway(store, { chats, port: Number(new URL(gateway.url).port) });
    await user.until('neither says so any more', async () => {
      return !(await problem.isVisible()) && (await shown.innerText()) === 'what it printed';
    });

    expect(user.complaints).toEqual([]);
  });

  test('every control has a name, and light, dark and narrow fit their screens', async () => {
    const store = await openStoreWithTurn();
    const tail = { type: 'tail', key: '2-b', state: 'started', attempt: 1, phase: 'running', bytes: 48_211 } as const;
    const tails = new LiveTails(async () => [
      { ...tail, ageMs: 83_000, lastLine: `ok 213 - ${'reads it '.repeat(30)}` },
    ]);
    const gateway = await openGateway(store, { tails, temporalWorkflowsUrl: 'http://127.0.0.1:1/workflows' });
    const calls = [draftCall('a'), draftCall('b'), { ...draftCall('c'), summary: `$ ${'long'.repeat(200)}` }];
    const text = `I look first.\n\`\`\`sh\nnpm test\n\`\`\`\n${'unbroken'.repeat(60)}`;
    await store.commitStep(await beginTestStep(store), { text, calls, agentId: AGENT });
    for (const [id, code] of Object.entries({ a: 0, c: 2 })) {
      const outcome = exitOutcome(code, 'a\nb\nc');
      await store.recordResult({ chatId: CHAT, turn: 1, key: parseExecutionKey(`2-${id}`), outcome });
    }
    for (const waiting of ['And then say how long it took', 'one '.repeat(200)]) {
      await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: waiting.slice(0, 9), text: waiting });
    }
    for (const [name, options] of [
      ['light', {}],
      ['dark', { colorScheme: 'dark', reducedMotion: 'reduce' }],
      ['narrow', { viewport: { width: 320, height: 720 } }],
    ] as const) {
      const user = await PageUser.open(browser, gateway.url, options);
      await user.goTo(CHAT);
      await user.page.locator('.tail:not([hidden])').waitFor();
      await user.page.locator('.call summary:visible').first().click();
      await keepScreenshot(user.page, `page-${name}`);
      const wide = await user.page
        .evaluate<string>(`document.documentElement.scrollWidth + ' of ' + innerWidth + ', log '
        + document.getElementById('log').scrollWidth + ' of ' + document.getElementById('log').clientWidth`);
      expect(wide, name).toMatch(/^(\d+) of \1, log (\d+) of \2$/);
      expect(await namelessControls(user), name).toEqual([]);
      expect(user.complaints).toEqual([]);
    }
  });

  async function openPage(store: Store, options: Parameters<typeof openGateway>[1] = {}): Promise<PageUser> {
    const gateway = await openGateway(store, options);
    const user = await PageUser.open(browser, gateway.url);
    await user.goTo(CHAT);
    return user;
  }
});

/** What a screen reader would call by its role only; dialogs included. */
async function namelessControls(user: PageUser): Promise<string[]> {
  await user.page.evaluate(`for (const each of document.querySelectorAll('dialog')) each.show()`);
  const session = await user.page.context().newCDPSession(user.page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const roles = ['button', 'link', 'textbox', 'searchbox', 'checkbox', 'dialog', 'navigation', 'log', 'region', 'list'];
  const named = nodes.filter(({ ignored, role }) => !ignored && roles.includes(String(role?.value)));
  expect(named.filter(({ role }) => role?.value === 'button').length).toBeGreaterThan(8);
  const isList = (role: string) => role === 'list';
  return named.flatMap(({ role, name }) => (name?.value || isList(String(role?.value)) ? [] : [String(role?.value)]));
}

function fillChat(file: string, messages: number): void {
  const database = new DatabaseSync(file);
  database.exec(`
    WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ${messages})
    INSERT INTO messages (chat_id, id, role, turn, client_message_id, text, hidden, at)
    SELECT '${CHAT}', id, 'user', id, 'm' || id, 'message ' || id, 0, '2026-01-01T00:00:00.000Z' FROM n`);
  database.close();
}
