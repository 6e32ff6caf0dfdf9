import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseChatId } from '../../../contract/ids.ts';
import { openStore } from '../../../store/open-store.ts';
import { LatchkeyFolder, PATIENCE_MS } from './latchkey-folder.ts';
import { CTRL_C, CTRL_D } from './terminal-run.ts';

/** What the store shows of the conversation, one line a message. */
async function said(folder: LatchkeyFolder, chatId: string): Promise<string[]> {
  const store = await openStore(folder.stage.store);
  try {
    const messages = await store.loadConversation(parseChatId(chatId));
    return messages.map(({ role, text }) => `${role}: ${text}`);
  } finally {
    await store.close();
  }
}

function scriptByText(folder: LatchkeyFolder, answers: Record<string, string>, command: string): string {
  const calls = [{ id: 'a', name: 'execute', arguments: { command } }];
  const steps = [{ text: 'I look.', calls }, { text: 'All is well.' }];
  const stepsByText = Object.fromEntries(Object.entries(answers).map(([asked, text]) => [asked, [{ text }]]));
  const file = join(folder.root, 'by-text.json');
  writeFileSync(file, JSON.stringify({ steps, stepsByText, delayMs: 5 }));
  return `scripted:${file}`;
}

describe('latchkey chat', { timeout: 2 * PATIENCE_MS }, () => {
  test('R26, G07: Ctrl-C stops the turn; what was typed meanwhile waited, and is answered once and in order', async () => {
    const folder = new LatchkeyFolder();
    const model = scriptByText(
      folder,
      { m2: 'Second.', m3: 'Third.', 'm2 anew': 'Anew.' },
      `echo ran >> '${folder.runLog}'; echo at work; sleep 600`,
    );
    const chat = folder.terminal(['chat', '--model', model]);
    const [, chatId = ''] = await chat.sees(/new chat (chat-[0-9a-f]{8}) · scripted:/);
    chat.enter('m1');
    await chat.sees(/> m1\n[^]*I look\.[^]*… \$ echo ran [^]*at work/);
    chat.enter('m2');
    await chat.sees(/queued, it is answered next/);
    chat.enter('m3');
    await chat.sees(/queued, 2 wait/);
    chat.enter('/queue');
    await chat.sees(/1 {2}m2\n[^]*2 {2}m3\n/);
    chat.enter('/calls');
    await chat.sees(/2-a {2}running/);
    chat.press(CTRL_C);
    await chat.sees(/Ctrl-C again leaves, and it goes on/);
    await chat.sees(/✗ \$ echo ran .* canceled, exit 143[^]*interrupted · 1 call/);
    await chat.sees(/> m2\n[^]*Second\.\n[^]*done · 0 calls[^]*> m3\n[^]*Third\.\n[^]*done · 0 calls/);
    expect(folder.countRuns()).toBe(1);
    expect(await said(folder, chatId)).toEqual([
      'user: m1',
      'assistant: I look.',
      'user: m2',
      'assistant: Second.',
      'user: m3',
      'assistant: Third.',
    ]);

    chat.enter('/edit 2 m2 anew');
    await chat.sees(/↩ edited[^]*> m2 anew\n[^]*Anew\.\n[^]*done/);
    expect((await said(folder, chatId)).slice(2)).toEqual(['user: m2 anew', 'assistant: Anew.']);
    chat.enter('/edit 7 nothing');
    await chat.sees(/there is no message 7 of yours; the last are:\s+1 {2}m1\s+2 {2}m2 anew/);
    chat.enter('/bogus');
    await chat.sees(/there is no command \/bogus\. There are: \/edit \/queue/);

    chat.enter('m4');
    await chat.sees(/> m4\n[^]*I look\.[^]*… \$ echo ran [^]*at work/);
    chat.enter('/calls');
    const [, key = ''] = await chat.sees(/(\d+-a) {2}running[^]*$/);
    chat.enter(`/cancel ${key}`);
    await chat.sees(/-a: canceled: [^]*done · 1 call/);
    expect((await said(folder, chatId)).slice(-2)).toEqual(['assistant: I look.', 'assistant: All is well.']);
    chat.enter('/cancel 999-none');
    await chat.sees(/has no call 999-none/);

    chat.enter('/archive');
    await chat.sees(/archived: it takes no messages; \/archive off opens it again/);
    chat.enter('refused');
    await chat.sees(/chat_archived|Open the chat again before you send to it/);
    chat.press(CTRL_C);
    chat.enter('/archive off');
    await chat.sees(/open again/);
    chat.enter('/bind some-other-agent');
    await chat.sees(/bound to agent some-other-agent from the next turn on/);
    chat.enter('/agent');
    await chat.sees(/agent some-other-agent, not this folder's \(a-[^]*none polls its queues: calls wait/);
    chat.enter('/bind');
    await chat.sees(/bound to agent a-\S+ from the next turn on/);
    chat.press(CTRL_D);
    expect(await chat.ended()).toBe(0);
    expect(folder.countRuns()).toBe(2);
    expect(folder.running).toEqual([]);
  });

  test('A1: Ctrl-C twice leaves, and the turn goes on; whoever comes back sees what was said, and the end', async () => {
    const folder = new LatchkeyFolder();
    const chat = folder.terminal(['chat', '--model', folder.gatedScript()]);
    const [, chatId = ''] = await chat.sees(/new chat (chat-[0-9a-f]{8})/);
    chat.enter('two\\');
    chat.enter('lines');
    await chat.sees(/> two\nlines\n[^]*… \$ echo ran [^]*waiting/);
    chat.press(CTRL_C + CTRL_C);
    expect(await chat.ended()).toBe(130);
    await chat.sees(/left; the turn goes on\. Come back: latchkey chat chat-/);
    expect(folder.liveRecord?.state).toBe('ready');

    const again = folder.terminal(['chat', chatId]);
    await again.sees(/> two\nlines\n[^]*I look\.[^]*… \$ echo ran [^]*waiting/);
    again.enter('/agent');
    await again.sees(/agent a-\S+\n[^]*worker: polled[^]*daemon: ready/);
    folder.openGate();
    await again.sees(/✓ \$ echo ran .* exit 0[^]*All is well\.[^]*done · 1 call/);
    again.press(CTRL_D);
    expect(await again.ended()).toBe(0);
    expect(folder.countRuns()).toBe(1);
    expect(folder.running).toEqual([]);
  });

  test('H01, S1: a pipe gets each line answered in turn as JSON lines, and latchkey events goes on from any cursor', async () => {
    const folder = new LatchkeyFolder();
    const model = scriptByText(folder, { one: 'First.', two: 'Second.' }, 'true');
    const piped = folder.latchkey(['chat', '--json', '--model', model], {}, 'one\n\ntwo\n');
    expect(await piped.ended()).toBe(0);
    const [begin] = piped.json;
    const chatId = String(begin?.['chatId']);
    const shown = piped.json.filter(({ type }) => type === 'message' || type === 'end');
    expect(shown).toMatchObject([
      { role: 'user', text: 'one' },
      { role: 'assistant', text: 'First.' },
      { type: 'end', turn: 1, state: 'completed' },
      { role: 'user', text: 'two' },
      { role: 'assistant', text: 'Second.' },
      { type: 'end', turn: 2, state: 'completed' },
    ]);
    expect(folder.running).toEqual([]);

    const snapshot = folder.latchkey(['events', chatId, '--once', '--json']);
    expect(await snapshot.ended()).toBe(0);
    expect(snapshot.json[0]).toMatchObject({ type: 'status', state: 'idle', snapshot: true });
    const { seq } = snapshot.json.at(-1) as { seq: number };
    const seconds = piped.json.find(({ type, text }) => type === 'message' && text === 'two')?.['seq'] as number;
    const rest = folder.latchkey(['events', chatId, '--from', String(seconds), '--once', '--json']);
    expect(await rest.ended()).toBe(0);
    expect(rest.json.find(({ type }) => type === 'message')).toMatchObject({ role: 'assistant', text: 'Second.' });
    expect(rest.json.at(-1)).toMatchObject({ seq });
    expect(rest.json.every((event) => (event['seq'] as number) > seconds)).toBe(true);

    const more = folder.latchkey(['chat', chatId, '--last', '1'], {}, 'one\n');
    expect(await more.ended()).toBe(0);
    expect(more.stdout).toBe('Second.\nFirst.\n');
  });

  test.each([
    [['chat'], /no model is configured/],
    [['events', 'chat-none'], /nothing was run in .* yet/],
    [['events', 'chat-none', '--from', 'x'], /--from is "x": must be a whole number/],
  ])('what is wrong with latchkey %j is one clear error', async (words, message) => {
    const folder = new LatchkeyFolder();
    const run = folder.latchkey(words);
    expect(await run.ended()).toBe(125);
    expect(run.stderr).toMatch(message);
    expect(folder.running).toEqual([]);
  });
});
