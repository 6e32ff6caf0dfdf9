import { describe, expect, test } from 'vitest';
import { StreamPlaces } from '../../../gateway/access/stream-places.ts';
import { LiveTails } from '../../../gateway/stream/live-tails.ts';
import type { Tail } from '../../../gateway/stream/live-tails.ts';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { openGateway, watchOverHttp } from '../../fixtures/gateway.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';
import { AGENT, CHAT, beginTestStep, draftCall, exitOutcome, openStoreWithTurn } from '../store/chat-fixture.ts';

describe('H01', () => {
  test('H01: over HTTP too a reader who is cut off and comes back shows everything once', async () => {
    const store = await openStoreWithTurn();
    const gateway = await openGateway(store);
    const watchers = [watchOverHttp(gateway, CHAT), watchOverHttp(gateway, CHAT)];
    const step = await beginTestStep(store);
    let text = '';
    for (let part = 0; part < 20; part += 1) {
      if (part === 5) await watchers[1]?.leave();
      if (part === 8) watchers.push(watchOverHttp(gateway, CHAT));
      if (part === 15) watchers[1]?.join();
      await store.writePart(step, `${part} `);
      text += `${part} `;
    }
    for (const watcher of watchers) await watcher.until('all parts are there', () => watcher.writing === text);
    await store.commitStep(step, { text, calls: [], agentId: AGENT });
    await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
    for (const watcher of watchers) {
      await watcher.until('the turn has ended', () => watcher.state === 'idle');
      expect(watcher.types[0]).toBe('status');
      expect([...watcher.messages.values()]).toEqual(['hello', text]);
    }
  });

  test('H01: only what can be gone on from has an id, and a snapshot may be of the newest messages', async () => {
    const gateway = await openGateway(await openStoreWithTurn());
    const controller = new AbortController();
    const { body, headers } = await fetch(`${gateway.url}/v1/chats/${CHAT}/events?messages=0`, {
      signal: controller.signal,
    });
    let seen = '';
    const decoder = new TextDecoder();
    for await (const bytes of body!) {
      seen += decoder.decode(bytes);
      if (seen.includes('"live"')) break;
    }
    controller.abort();
    expect(headers.get('content-type')).toContain('text/event-stream');
    const blocks = seen.trim().split('\n\n');
    expect(blocks[0]).toBe('retry: 1000');
    expect(blocks.slice(1).map((block) => block.split('\n').length)).toEqual([1, 1, 2]);
    expect(blocks.at(-1)).toMatch(/^id: (\d+)\ndata: \{"type":"live","seq":\1,"hasEarlier":true\}$/);
  });
});

test('H03: a cursor that can not be served is answered with a reset and a full snapshot', async () => {
  const store = await openStoreWithTurn();
  await store.pruneEvents({ chatId: CHAT, through: 4 });
  const gateway = await openGateway(store);
  const late = watchOverHttp(gateway, CHAT);
  await late.leave();
  late.cursor = 2;
  late.frames.length = 0;
  late.join();
  await late.until('it is live', () => late.types.includes('live'));
  expect(late.types.slice(0, 2)).toEqual(['reset', 'status']);
  const bad = await fetch(`${gateway.url}/v1/chats/${CHAT}/events`, { headers: { 'last-event-id': 'x1' } });
  expect(await bad.json()).toMatchObject({ error: { code: 'bad_request', field: 'Last-Event-ID' } });
});

test('tails of running calls are told while they are open, each change once, and never after the result', async () => {
  const store = await openStoreWithTurn();
  let lastLine = 'one';
  let asked = 0;
  const tail = (): Tail => ({
    type: 'tail',
    key: '2-a',
    state: 'started',
    attempt: 1,
    phase: 'running',
    bytes: 4,
    lastLine,
  });
  const tails = new LiveTails(async () => {
    asked += 1;
    return [tail()];
  });
  const gateway = await openGateway(store, { tails });
  const [first, second] = [watchOverHttp(gateway, CHAT), watchOverHttp(gateway, CHAT)];
  await first.until('it is live', () => first.types.includes('live'));
  expect(asked).toBe(0);
  await store.commitStep(await beginTestStep(store), { text: '', calls: [draftCall('a')], agentId: AGENT });
  const told = (watcher: typeof first) =>
    watcher.frames.flatMap((frame) => ((frame.type as string) === 'tail' ? [(frame as unknown as Tail).lastLine] : []));
  for (const each of [first, second]) await each.until('it has the first line', () => told(each).length === 1);
  const output = await fetch(`${gateway.url}/v1/chats/${CHAT}/calls/2-a/output`);
  expect(await output.json()).toEqual({ source: 'tail', phase: 'running', bytes: 4, lastLine: 'one' });
  // Who comes back with a cursor knows the call already, and is told of it all the same.
  const returning = watchOverHttp(gateway, CHAT);
  await returning.until('it is live', () => returning.types.includes('live'));
  await returning.leave();
  returning.frames.length = 0;
  returning.join();
  await returning.until('it has the first line', () => told(returning).length === 1);
  lastLine = 'two';
  for (const each of [first, second]) await each.until('it has the second line', () => told(each).length === 2);
  await store.recordResult({ chatId: CHAT, turn: 1, key: parseExecutionKey('2-a'), outcome: exitOutcome(0) });
  for (const each of [first, second]) await each.until('it has the result', () => each.calls.get('2-a') === 'exited');
  const before = asked;
  lastLine = 'three';
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'x' });
  await first.until('it hears of the next thing', () => first.types.at(-1) === 'queued');
  expect([told(first), told(second)]).toEqual([
    ['one', 'two'],
    ['one', 'two'],
  ]);
  expect(asked).toBeLessThanOrEqual(before + 1);
  expect(await (await fetch(`${gateway.url}/v1/chats/${CHAT}/calls/2-a/output`)).json()).toMatchObject({
    source: 'result',
    text: 'exit 0',
  });
});

test('a token has so many streams at once; one that ends gives its place back', async () => {
  const store = await openStoreWithTurn();
  const gateway = await openGateway(store, { places: new StreamPlaces(2) });
  const open = [watchOverHttp(gateway, CHAT), watchOverHttp(gateway, CHAT)];
  for (const each of open) await each.until('it is live', () => each.types.includes('live'));
  const events = `${gateway.url}/v1/chats/${CHAT}/events`;
  const refused = await fetch(events);
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: 'too_busy' } }]);
  await open[0]?.leave();
  await waitUntil('there is a place', async () => {
    const response = await fetch(events);
    await response.body?.cancel();
    return response.status === 200;
  });
});

test('a gateway that stops ends its streams, and another one goes on from their cursors', async () => {
  const store = await openStoreWithTurn();
  const gateway = await openGateway(store);
  const watcher = watchOverHttp(gateway, CHAT);
  await watcher.until('it is live', () => watcher.types.includes('live'));
  await gateway.stop();
  await watcher.leave();
  await store.writePart(await beginTestStep(store), 'more');
  await openGateway(store, { port: Number(new URL(gateway.url).port) });
  watcher.join();
  await watcher.until('it has the rest', () => watcher.writing === 'more');
  expect(watcher.types.filter((type) => type === 'live')).toHaveLength(1);
});
