import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Conversation } from '../../../gateway/page/conversation.ts';
import { readEvents } from '../../../gateway/page/read-events.ts';
import { sayBytes, sayDuration } from '../../../gateway/page/say.ts';
import type { Call, Frame, FrameBody, Tail as PageTail } from '../../../gateway/page/wire.ts';
import type { Tail } from '../../../gateway/stream/live-tails.ts';
import type { ChatFrame } from '../../../store/follow-chat.ts';
import { openGateway } from '../../fixtures/gateway.ts';
import { openTestStore } from '../store/chat-fixture.ts';

const CSS = readFileSync(join(import.meta.dirname, '../../../gateway/page/page.css'), 'utf8');

describe('the conversation that the page shows', () => {
  test('takes every frame that the gateway sends', () => {
    // Checked by the compiler: what the page knows of the wire is what is sent.
    const takes = (frame: ChatFrame | Tail): Frame | PageTail => frame;
    expect(takes).toBeTypeOf('function');
  });

  test('H04: parts go with their attempt, their message and their turn', () => {
    const part = { type: 'part', turn: 1, step: 1, text: 'half' } as const;
    const ends: FrameBody[] = [
      { type: 'withdrawn', turn: 1, step: 1 },
      { type: 'message', role: 'assistant', id: 2, turn: 1, step: 1, text: 'whole', calls: [] },
      { type: 'status', state: 'idle' },
      { type: 'hidden', fromId: 1, epoch: 2 },
    ];
    for (const end of ends) {
      const conversation = open([{ type: 'status', state: 'running', turn: 1 }]);
      for (const body of [part, { ...part, text: ' a thought' }]) conversation.take(told(body), 0);
      expect(conversation.writing?.text).toBe('half a thought');
      conversation.take(told(end), 0);
      expect(conversation.writing, end.type).toBeUndefined();
    }
  });

  test('H03: a snapshot replaces all that was shown, and an edit hides what is after it', () => {
    const conversation = open([user(1), user(2), user(3)]);
    conversation.take(told({ type: 'hidden', fromId: 2, epoch: 1 }), 0);
    conversation.take(told(user(5)), 0);
    expect(idsOf(conversation)).toEqual([1, 5]);
    conversation.take({ type: 'reset' }, 0);
    conversation.take({ type: 'status', state: 'idle', snapshot: true }, 0);
    conversation.take({ ...user(5), snapshot: true }, 0);
    conversation.take({ type: 'live', hasEarlier: true }, 0);
    expect(idsOf(conversation)).toEqual([5]);
  });

  test('a waiting message leaves the queue when it is deleted, and when it is taken', () => {
    const conversation = open([]);
    for (const id of ['m1', 'm2', 'm3']) {
      conversation.take(told({ type: 'queued', clientMessageId: id, text: id }), 0);
    }
    conversation.take(told({ type: 'queue', queue: ['m3', 'm1'] }), 0);
    expect(conversation.queue.map(({ text }) => text)).toEqual(['m3', 'm1']);
    conversation.take(told({ ...user(7), clientMessageId: 'm3' }), 0);
    expect(conversation.queue.map(({ text }) => text)).toEqual(['m1']);
  });

  test('a call keeps its arguments and times; its tail goes with its result', () => {
    const call = { ...CALL, arguments: { command: 'ls' } };
    const conversation = open([
      { type: 'message', role: 'assistant', id: 2, turn: 1, step: 1, text: '', calls: [call] },
    ]);
    conversation.take({ type: 'tail', key: '2-a', attempt: 1, phase: 'running' }, 5);
    expect(conversation.tails.get('2-a')?.seenMs).toBe(5);
    const result = { text: 'exit 0', isError: false };
    conversation.take(told({ type: 'call', call: { ...CALL, status: 'exited', exitCode: 0, result } }), 0);
    expect(conversation.calls.get('2-a')).toMatchObject({ arguments: { command: 'ls' }, exitCode: 0, resolvedAt: AT });
    expect(conversation.tails.size).toBe(0);
  });

  test('earlier messages that were asked for before an edit are not shown', () => {
    const page = {
      messages: [{ id: 3, role: 'user', turn: 1, text: 'x', calls: [], notes: [] }],
      hasMore: false,
    } as const;
    const conversation = open([user(5)], true);
    const { before } = conversation.beginEarlier() ?? { before: 0 };
    expect(conversation.beginEarlier()).toBeUndefined();
    conversation.take(told({ type: 'hidden', fromId: 3, epoch: 1 }), 0);
    expect(conversation.addEarlier(page, before)).toBe(false);
    conversation.take(told(user(9)), 0);
    const again = conversation.beginEarlier();
    expect(conversation.addEarlier(page, again?.before ?? 0)).toBe(true);
    expect([idsOf(conversation), conversation.hasEarlier]).toEqual([[3, 9], false]);
  });

  test('only the newest are kept of very many, and those before them can be loaded again', () => {
    const conversation = open(Array.from({ length: 20 }, (_, index) => user(index + 1)));
    conversation.keepNewest(5);
    expect([idsOf(conversation), conversation.hasEarlier]).toEqual([[16, 17, 18, 19, 20], true]);
  });
});

test('events are read however the network cuts them, and what a cut leaves unfinished is not told', async () => {
  const text = 'retry: 1000\n\n: beat\n\ndata: {"a":"ü"}\n\nid: 7\r\ndata: {"b":1}\r\n\r\nid: 8\ndata: {"c"';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 5, 1000]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
      bytes.slice(n * size, (n + 1) * size),
    );
    let heard = 0;
    const events: object[] = [];
    for await (const event of readEvents(ReadableStream.from(pieces), () => (heard += 1))) events.push(event);
    expect(events, `in pieces of ${size}`).toEqual([{ data: '{"a":"ü"}' }, { id: '7', data: '{"b":1}' }]);
    expect(heard).toBe(pieces.length);
  }
});

test('figures are said as people read them', () => {
  expect([0, 999, 48_211, 5_000_000].map(sayBytes)).toEqual(['0 bytes', '999 bytes', '48.2 KB', '5.0 MB']);
  expect([400, 83_000, 3_700_000, 260_000_000].map(sayDuration)).toEqual(['0 s', '1 min 23 s', '1 h 1 min', '3 days']);
});

test('its colours can be told apart by everybody, in light and in dark', () => {
  const [light = '', dark = ''] = [...CSS.matchAll(/:root \{([^}]*)\}/g)].map(([, body]) => body);
  for (const [name, body] of Object.entries({ light, dark })) {
    const colours = Object.fromEntries(
      [...body.matchAll(/--([\w-]+): (#\w{6});/g)].map(([, key, value]) => [key, value]),
    );
    const grounds = ['ground', 'surface', 'side', 'mine'];
    const pairs = grounds.flatMap((ground) =>
      ['text', 'soft', 'accent', 'bad', 'busy', 'good'].map((ink) => [ink, ground]),
    );
    for (const [ink = '', ground = ''] of [...pairs, ['on-accent', 'accent']]) {
      const ratio = contrastOf(colours[ink] ?? '', colours[ground] ?? '');
      // What the Web Content Accessibility Guidelines ask of text.
      expect(ratio, `${name}: ${ink} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    }
  }
});

test('its files are served to everybody, under a policy that lets nothing else in, and again only when they changed', async () => {
  const tokens = JSON.stringify([{ name: 'me', token: 'a-token-of-enough-characters', chats: '*' }]);
  const { url } = await openGateway(await openTestStore(), { tokens });
  const page = await fetch(`${url}/`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers.get('content-security-policy')).toMatch(
    /default-src 'none'; script-src 'self'; .*require-trusted/,
  );
  const html = await page.text();
  expect(html).not.toMatch(/<script(?! type="module" src="\/page\/main.js")|style=| on\w+=|https?:/);
  const script = await fetch(`${url}/page/main.js`);
  expect(await script.text()).toMatch(/from '\.\/api\.js'/);
  const etag = script.headers.get('etag') ?? '';
  expect((await fetch(`${url}/page/main.js`, { headers: { 'if-none-match': etag } })).status).toBe(304);
  for (const name of ['main.ts', 'tsconfig.json', '..%2Fmain.ts', 'nothing.js']) {
    expect((await fetch(`${url}/page/${name}`)).status, name).toBe(404);
  }
  expect((await fetch(`${url}/v1/settings`)).status).toBe(401);
});

const AT = '2026-01-01T00:00:00.000Z';
const CALL: Call = {
  key: '2-a',
  toolName: 'execute',
  summary: '$ ls',
  status: 'reserved',
};

function user(id: number) {
  return { type: 'message', role: 'user', id, turn: id, clientMessageId: `c${id}`, text: `message ${id}` } as const;
}

function told(body: FrameBody): Frame {
  return { ...body, at: AT };
}

function open(bodies: readonly FrameBody[], hasEarlier = false): Conversation {
  const conversation = new Conversation();
  conversation.take({ type: 'status', state: 'idle', snapshot: true }, 0);
  for (const body of bodies) conversation.take({ ...body, snapshot: true }, 0);
  conversation.take({ type: 'live', hasEarlier }, 0);
  return conversation;
}

function idsOf({ messages }: Conversation): number[] {
  return messages.map(({ id }) => id);
}

function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [one, other].map(luminanceOf).toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((from) => {
    const part = Number.parseInt(colour.slice(from, from + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
