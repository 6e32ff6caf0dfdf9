import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { StreamEvent } from '../../../client/open-store.ts';
import type { PendingActivity } from '../../../client/watch/pending-activities.ts';
import { Screen } from '../../../client/watch/screen.ts';
import { TurnJson } from '../../../client/watch/turn-json.ts';
import { TurnPrinter } from '../../../client/watch/turn-printer.ts';
import type { ChatId } from '../../../contract/ids.ts';

class Paper {
  text = '';
  readonly isTTY: boolean;
  readonly columns = 40;
  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }
  write(text: string): void {
    this.text += text;
  }
}

function printTo(isTTY: boolean) {
  const out = new Paper(isTTY);
  const err = new Paper(isTTY);
  const screen = new Screen(out, err);
  const findExit = async () => ({ code: 0, durationMs: 1234 });
  return { out, err, printer: new TurnPrinter({ screen, showsUser: true, findExit }) };
}

const event = (body: object): StreamEvent => ({ seq: 1, at: '', turn: 1, step: 1, ...body }) as unknown as StreamEvent;
const part = (text: string) => event({ type: 'part', text });
const message = (text: string, calls: object[] = []) => event({ type: 'message', role: 'assistant', text, calls });
const call = (status: string, more: object = {}) => ({ key: '2-a', summary: '$ make', status, turn: 1, ...more });
const beating = (heartbeat: object, more: object = {}): PendingActivity =>
  ({
    activityId: '2-a',
    type: 'execute',
    state: 'started',
    attempt: 1,
    heartbeat,
    ...more,
  }) as unknown as PendingActivity;

describe('a turn on paper', () => {
  test('shows streamed text once, and what the stored message adds to it', async () => {
    const { out, printer } = printTo(false);
    for (const each of [part('Hel'), part('lo'), message('Hello.')]) await printer.event(each);
    expect(out.text).toBe('Hello.\n');
  });

  test('says that an answer broke off, and shows the new one', async () => {
    const { out, err, printer } = printTo(false);
    for (const each of [part('Wro'), event({ type: 'withdrawn' }), part('Right'), message('Right')]) {
      await printer.event(each);
    }
    expect(out.text).toBe('Wro\nRight\n');
    expect(err.text).toContain('the answer broke off');
  });

  test('shows a call when it begins, and its exit and time when it ends', async () => {
    const { err, printer } = printTo(false);
    await printer.event(message('', [call('reserved')]));
    await printer.event(event({ type: 'call', call: call('exited', { exitCode: 0 }) }));
    expect(err.text).toBe('… $ make  (2-a)\n✓ $ make · exit 0 · 1.2 s · 2-a\n');
  });

  test('shows the last lines of a command that failed, and not its exit twice', async () => {
    const { err, printer } = printTo(false);
    const result = { text: 'one\ntwo\n[exit 1 after 1.2 s]', isError: true };
    await printer.event(event({ type: 'call', call: call('exited', { exitCode: 1, result }) }));
    expect(err.text).toBe('✗ $ make · exit 1 · 1.2 s · 2-a\n    one\n    two\n');
  });

  test('says once that the agent is away', async () => {
    const { err, printer } = printTo(false);
    await printer.event(message('', [call('reserved')]));
    const away = beating({ unreachableSince: '2026-01-01T12:00:00Z' });
    printer.pending([away]);
    printer.pending([away]);
    expect(err.text.match(/agent unreachable since/g)).toHaveLength(1);
  });
});

describe('what a turn waits for, and what became known later', () => {
  const retry = (attempt: number, code: string, text: string) =>
    event({ type: 'retry', attempt, code, message: text, retryInMs: 12_000 });

  test('says once that the provider is busy, and for how long it is waited', async () => {
    const { err, printer } = printTo(false);
    await printer.event(retry(1, 'model_rate_limited', 'fake-provider: 429 Too Many Requests'));
    const next = beating({}, { activityId: '1', type: 'generateStep', attempt: 2, lastFailure: '429' });
    printer.pending([next]);
    expect(err.text).toBe('! the provider is busy, trying again in 12 s\n');
    printer.pending([{ ...next, attempt: 3 }]);
    expect(err.text).toContain('the model, attempt 3');
  });

  test('tells why another failure of the model is tried again', async () => {
    const { err, printer } = printTo(false);
    await printer.event(retry(1, 'model_unavailable', 'the stream broke off.'));
    expect(err.text).toBe('! the stream broke off, trying again in 12 s\n');
  });

  test('shows a note line by line, without control characters', async () => {
    const { err, printer } = printTo(false);
    await printer.event(event({ type: 'note', key: '2-a', text: 'more is known\nexit 3\u001b[2J' }));
    expect(err.text).toMatch(/^! more is known\n! exit 3.*\n$/);
    expect(err.text).not.toContain('\u001b');
  });

  test('shows what others wrote without what would move the cursor or speak to the terminal', async () => {
    const { out, err, printer } = printTo(true);
    const evil = '\u001b]0;title\u0007\u0007\u009b2J\u001b[8m\rover';
    const keyed = { key: `2-a${evil}`, summary: `$ make${evil}` };
    await printer.event(event({ type: 'message', role: 'user', text: `hello${evil}` }));
    for (const each of [part(`I ${evil}\u001b`), part('[2Jlook\r\n')]) await printer.event(each);
    await printer.event(message(`I ${evil}\u001b[2Jlook\r\n`, [call('reserved', keyed)]));
    await printer.event(event({ type: 'call', call: call('exited', { ...keyed, exitCode: 0 }) }));
    printer.notice(`a notice${evil}`);
    printer.end();
    // What is left is ours: styles, and the moves that draw live lines.
    // oxlint-disable-next-line no-control-regex -- that is what they are
    const left = (out.text + err.text).replaceAll(/\u001b\[(?:1|2|22|3[1239])m|\r\u001b\[\d+A\u001b\[J/g, '');
    expect(left.match(/[^\P{Cc}\n\t]/u)).toBeNull();
    expect(left).toMatch(/> hello.*over\n/);
    expect(out.text).toMatch(/^I .*over .*look\n$/);
  });

  test('shows a signal that was sent as done', async () => {
    const { err, printer } = printTo(false);
    const sent = call('exited', { summary: 'process_signal p3 SIGTERM', evidence: { code: 'signalled' } });
    await printer.event(event({ type: 'call', call: sent }));
    expect(err.text).toMatch(/^✓ process_signal p3 SIGTERM · sent/);
  });
});

describe('a turn on a terminal', () => {
  test('keeps a live line for a running call, no wider than the terminal, without control characters of the command', async () => {
    const { err, printer } = printTo(true);
    await printer.event(message('', [call('reserved')]));
    printer.pending([beating({ lastLine: `\u001b[2J界${'x'.repeat(100)}` })]);
    const line = err.text.split('\n').find((each) => each.includes('$ make')) ?? '';
    // Our own styles are taken out; what is left is what takes room.
    const shown = stripVTControlCharacters(line);
    expect(line).not.toContain('\u001b[2J');
    expect(shown).toContain('界xxx');
    expect(shown.length).toBeLessThan(40);
  });

  test('draws no live line into a half-written line of text', async () => {
    const { out, err, printer } = printTo(true);
    await printer.event(message('', [call('reserved')]));
    await printer.event(part('half'));
    const before = err.text;
    printer.draw();
    expect(err.text).toBe(before);
    expect(out.text).toBe('half');
  });
});

describe('a turn as JSON', () => {
  test('is one object a line, and a progress line only when something is new', () => {
    const out = new Paper(false);
    const json = new TurnJson(out, 'chat-1' as ChatId);
    json.event(part('Hi'));
    const pending = beating({ key: '2-a', phase: 'running', lastLine: 'one' });
    json.pending([pending]);
    json.pending([pending]);
    const lines = out.text.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { type: 'part', chatId: 'chat-1', text: 'Hi' },
      { type: 'progress', key: '2-a', attempt: 1, lastLine: 'one' },
    ]);
  });
});
