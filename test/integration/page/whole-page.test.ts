import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseChatId } from '../../../contract/ids.ts';
import { withDeadline } from '../../../gateway/chat-actions.ts';
import { LiveTails, readTails } from '../../../gateway/stream/live-tails.ts';
import { findBrowser, launchBrowser } from '../../fixtures/browser.ts';
import { openGateway } from '../../fixtures/gateway.ts';
import type { TestGateway } from '../../fixtures/gateway.ts';
import { PageUser } from '../../fixtures/page-user.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';
import type { ChatScript } from '../../fixtures/whole-chat.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

const found = await findBrowser();
if ('skipReason' in found) console.warn(`the gateway's page was NOT used: ${found.skipReason}`);

describe.skipIf('skipReason' in found)('the page on the real whole', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser('path' in found ? found.path : '');
  });
  afterAll(() => browser?.close());

  test('R28: reloads and a cut in the middle of a command lose and double nothing, nor does an answer that is lost', async () => {
    const whole = await Whole.open();
    const stop = join(whole.folder.root, 'stop');
    const count = `i=0; until [ -e ${stop} ]; do i=$((i+1)); echo "line $i"; sleep 0.1; done; echo "lines: $i"`;
    const chat = await openChat(whole, {
      stepsByText: { 'first question': [{ text: 'First answer.' }], count: [commands({ count }), DONE] },
    });
    const gateway = await serve(chat);
    const user = await PageUser.open(browser, gateway.url);
    await user.goTo(chat.chatId);
    await user.page.getByLabel('Message', { exact: true }).click();
    await user.type('first question');
    const before = ['You: first question', 'Model: First answer.'];
    await user.sees('the first answer', before);

    // The message is taken, and nobody tells the page; it asks again with the same id when it is loaded anew.
    await user.page.route('**/messages', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await user.type('count');
    const running = [...before, 'You: count', 'Model: I run something.', `running: $ ${count}`];
    const seesRunning = async (): Promise<void> => {
      await user.sees('the running command', running);
      await user.until('its last line is shown', async () => /line \d/.test(await tailOf(user)));
    };
    for (let reload = 1; reload <= 3; reload += 1) {
      await seesRunning();
      if (reload === 1) await user.page.unroute('**/messages');
      await user.page.reload();
    }
    await seesRunning();
    await gateway.stop();
    await user.seesStatus('Connection lost');
    const stopped = await tailOf(user);
    await serve(chat, Number(new URL(gateway.url).port));
    await user.page.getByText('Output so far').click();
    const output = user.page.getByRole('region', { name: 'Output so far' });
    await user.until('all of its output is shown', async () =>
      /line 1\nline 2\n/.test((await output.textContent()) ?? ''),
    );
    await user.until('its tail goes on', async () => lineOf(await tailOf(user)) > lineOf(stopped));
    expect(await user.said()).toEqual(running);

    const link = await user.page.getByRole('link', { name: 'Turn in Temporal' }).getAttribute('href');
    expect(link).toBe(`http://127.0.0.1:8233/workflows/${encodeURIComponent(`turn/${chat.chatId}/2`)}`);
    writeFileSync(stop, '');
    const [call] = running.slice(-1);
    await user.sees('the end', [...running.slice(0, -1), call?.replace('running', 'exited') ?? '', 'Model: Done.']);
    await user.page.getByText('Result', { exact: true }).click();
    const result = (await user.page.getByRole('region', { name: 'Result' }).textContent()) ?? '';
    const lines = [...result.matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number));
    expect(lines.length).toBeGreaterThan(10);
    expect(lines).toEqual(lines.map((_, index) => index + 1));
    await user.seesQueue([]);
    await chat.idle(2);
    expect(await chat.asked()).toEqual(['first question', 'count']);
    expect(user.complaints).toEqual([]);
  });

  test('G07, G08: by the keyboard alone a chat is begun, queued to, interrupted, edited and archived, and one command canceled', async () => {
    const whole = await Whole.open();
    const chat = await openChat(whole, {
      stepsByText: {
        wait: [commands({ wait: 'echo waiting; sleep 600' }), DONE],
        third: [{ text: 'Third answer.' }],
        'third, edited': [{ text: 'Edited answer.' }],
        fourth: [commands({ stuck: 'echo stuck; sleep 600' }), DONE],
      },
    });
    const gateway = await serve(chat);
    const user = await PageUser.open(browser, gateway.url);
    await user.goTo();
    await user.tabTo('New chat');
    await user.page.keyboard.press('Enter');
    await user.seesStatus('Idle');
    expect(await user.focused()).toBe('Message');
    await user.page.keyboard.type('wa');
    await user.page.reload();
    await user.seesStatus('Idle');
    await user.type('it');
    const waiting = ['You: wait', 'Model: I run something.', 'running: $ echo waiting; sleep 600'];
    await user.sees('the running command', waiting);

    for (const text of ['second', 'third']) await user.type(text);
    await user.seesQueue(['second', 'third']);
    await user.tabTo('Answer next: third', { backwards: true });
    await user.page.keyboard.press('Enter');
    await user.seesQueue(['third', 'second']);
    await user.tabTo('Delete: second');
    await user.page.keyboard.press('Enter');
    await user.seesQueue(['third']);
    await user.until('the focus is at what is left', async () => (await user.focused()) === 'Delete: third');

    await user.page.keyboard.press('Escape');
    await user.until('it is asked', async () => (await user.focused()) === 'Stop');
    await user.page.keyboard.press('Escape');
    expect(await user.status()).toContain('Running');
    await user.page.keyboard.press('Escape');
    await user.page.keyboard.press('Enter');
    const canceled = [...waiting.slice(0, 2), 'canceled: $ echo waiting; sleep 600'];
    await user.sees('the next answer', [...canceled, 'You: third', 'Model: Third answer.']);
    await user.seesStatus('Idle');

    await user.page.getByLabel('Message', { exact: true }).focus();
    await user.tabTo('Edit', { backwards: true });
    await user.page.keyboard.press('Enter');
    await user.page.keyboard.press('End');
    await user.type(', edited');
    await user.sees('the edited one', [...canceled, 'You: third, edited', 'Model: Edited answer.']);
    await user.seesStatus('Idle');
    expect(await user.focused()).toBe('Message');

    const edited = [...canceled, 'You: third, edited', 'Model: Edited answer.'];
    await user.type('fourth');
    const stuck = [...edited, 'You: fourth', 'Model: I run something.'];
    await user.sees('the running command', [...stuck, 'running: $ echo stuck; sleep 600']);
    await user.tabTo('Cancel $ echo stuck; sleep 600', { backwards: true });
    await user.page.keyboard.press('Enter');
    await user.sees('the end of that turn', [...stuck, 'canceled: $ echo stuck; sleep 600', 'Model: Done.']);
    await user.seesStatus('Idle');
    await user.page.getByLabel('Message', { exact: true }).focus();
    await user.tabTo('Archive', { backwards: true });
    await user.page.keyboard.press('Enter');
    await user.seesStatus('Archived');
    expect(await user.page.getByLabel('Message', { exact: true }).isDisabled()).toBe(true);
    expect(user.complaints).toEqual([]);
  });
});

function openChat(whole: Whole, script: ChatScript): Promise<WholeChat> {
  return WholeChat.open(whole, script, { chatId: parseChatId(`page-${randomUUID()}`) });
}

function serve(chat: WholeChat, port?: number): Promise<TestGateway> {
  return openGateway(chat.whole.store, {
    chats: withDeadline(chat.client, chat.chats),
    tails: new LiveTails(readTails(chat.client)),
    defaults: chat.create,
    temporalWorkflowsUrl: 'http://127.0.0.1:8233/workflows',
    ...(port !== undefined && { port }),
  });
}

async function tailOf(user: PageUser): Promise<string> {
  return (await user.page.locator('.tail').allTextContents()).at(-1) ?? '';
}

function lineOf(tail: string): number {
  return Number(/\d+/.exec(tail)?.[0] ?? 0);
}
