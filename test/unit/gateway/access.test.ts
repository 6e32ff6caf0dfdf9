import { request as httpRequest } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTokens } from '../../../gateway/access/tokens.ts';
import { readGatewayConfiguration } from '../../../gateway/configuration.ts';
import { openGateway } from '../../fixtures/gateway.ts';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseChatId } from '../../../contract/ids.ts';
import {
  AGENT,
  CHAT,
  beginTestStep,
  draftCall,
  exitOutcome,
  makeTemporaryFolder,
  openStoreWithTurn,
  openTestStore,
} from '../store/chat-fixture.ts';

const ALL = 'a'.repeat(20);
const SOME = 'b'.repeat(20);
const TOKENS = JSON.stringify([
  { name: 'all', token: ALL, chats: '*' },
  { name: 'some', token: SOME, chats: ['mine-*', 'one'] },
]);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function codeOf(response: Response): Promise<unknown> {
  return [response.status, ((await response.json()) as { error?: { code: string } }).error?.code];
}

/** `fetch` sets its own Host. */
function statusWith(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    request.end();
  });
}

describe('with tokens', () => {
  test('only who has one is answered, and only of the chats that it is bound to', async () => {
    const store = await openTestStore();
    for (const chatId of [CHAT, 'mine-1', 'one', 'one-2'] as (typeof CHAT)[]) {
      await store.createChat({ chatId, agentId: AGENT });
    }
    const { url } = await openGateway(store, { tokens: TOKENS });
    const ask = async (chatId: string, headers: Record<string, string>) =>
      codeOf(await fetch(`${url}/v1/chats/${chatId}`, { headers }));
    expect(await ask('one', {})).toEqual([401, 'unauthorized']);
    expect(await ask('one', bearer('c'.repeat(20)))).toEqual([401, 'unauthorized']);
    expect(await ask('one', bearer(''))).toEqual([401, 'unauthorized']);
    expect(await ask(CHAT, bearer(ALL))).toEqual([200, undefined]);
    expect(await ask('mine-1', bearer(SOME))).toEqual([200, undefined]);
    expect(await ask('one', bearer(SOME))).toEqual([200, undefined]);
    // A foreign one gets the very answer of one that isn't there.
    const foreign = await (await fetch(`${url}/v1/chats/one-2`, { headers: bearer(SOME) })).text();
    const absent = await (await fetch(`${url}/v1/chats/one-3`, { headers: bearer(SOME) })).text();
    expect(foreign.replace('one-2', 'one-3')).toBe(absent);
    expect(JSON.parse(absent)).toMatchObject({ error: { code: 'unknown_chat', field: 'chatId' } });
  });

  test('every route is behind them, but the health check', async () => {
    const { url } = await openGateway(await openStoreWithTurn(), { tokens: TOKENS });
    const paths: [string, string][] = [
      ['GET', `/v1/chats/${CHAT}/events`],
      ['POST', '/v1/chats'],
      ['POST', `/v1/chats/${CHAT}/messages`],
      ['DELETE', `/v1/chats/${CHAT}/queue/m1`],
      ['POST', '/api/chat'],
      ['GET', `/api/chat/${CHAT}/stream`],
      ['GET', '/nowhere'],
    ];
    for (const [method, path] of paths) expect((await fetch(`${url}${path}`, { method })).status, path).toBe(401);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('a token of some chats makes and streams no other', async () => {
    const { url } = await openGateway(await openStoreWithTurn(), { tokens: TOKENS });
    const headers = { ...bearer(SOME), 'content-type': 'application/json' };
    const make = async (path: string, body: object) =>
      codeOf(await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }));
    const bound = { agentId: AGENT, model: 'scripted:x' };
    expect(await make('/v1/chats', { chatId: 'mine-2', ...bound })).toEqual([200, undefined]);
    expect(await make('/v1/chats', { chatId: 'other', ...bound })).toEqual([404, 'unknown_chat']);
    const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'hello' }] };
    expect(await make('/api/chat', { id: 'other', messages: [message], ...bound })).toEqual([404, 'unknown_chat']);
    expect(await codeOf(await fetch(`${url}/v1/chats/${CHAT}/events`, { headers }))).toEqual([404, 'unknown_chat']);
  });

  test('a chat without an id gets one that its token may use, or the ids are named', async () => {
    const few = 'f'.repeat(20);
    const long = 'l'.repeat(20);
    const tokens = JSON.stringify([
      { name: 'some', token: SOME, chats: ['one', 'mine-*'] },
      { name: 'few', token: few, chats: ['one', 'two'] },
      { name: 'long', token: long, chats: [`${'x'.repeat(40)}*`] },
    ]);
    const defaults = { agentId: AGENT, model: 'scripted:x' };
    const { url } = await openGateway(await openTestStore(), { tokens, defaults });
    const make = async (token: string) => {
      const headers = { ...bearer(token), 'content-type': 'application/json' };
      return (await fetch(`${url}/v1/chats`, { method: 'POST', headers, body: '{}' })).json();
    };
    expect(await make(SOME)).toMatchObject({ chat: { chatId: expect.stringMatching(/^mine-[0-9a-f-]{36}$/) } });
    const message = 'this token may only use the chats one, two: give chatId';
    expect(await make(few)).toMatchObject({ error: { code: 'bad_request', field: 'chatId', message } });
    expect(await make(long)).toMatchObject({ error: { code: 'bad_request', field: 'chatId' } });
  });
});

describe('without tokens', () => {
  test('it answers to names of this machine, and to no page of another site', async () => {
    const { url } = await openGateway(await openStoreWithTurn());
    const chat = `${url}/v1/chats/${CHAT}`;
    const { host } = new URL(url);
    expect(await statusWith(chat, {})).toBe(200);
    expect(await statusWith(chat, { host: 'localhost:80' })).toBe(200);
    expect(await statusWith(chat, { host: 'rebound.example' })).toBe(401);
    expect(await statusWith(chat, { host, origin: `http://${host}` })).toBe(200);
    expect(await statusWith(chat, { host, origin: 'https://elsewhere.example' })).toBe(401);
    expect(await statusWith(chat, { host, origin: 'null' })).toBe(401);
  });

  test('it listens on loopback only', () => {
    const read = (listen: string, tokens?: string) =>
      readGatewayConfiguration({
        args: [],
        env: { LATCHKEY_STORE: 'x', LATCHKEY_GATEWAY_LISTEN: listen, LATCHKEY_GATEWAY_TOKENS: tokens },
      });
    expect(read('127.0.0.1:80')).toMatchObject({ host: '127.0.0.1', port: 80 });
    expect(read('[::1]:80').host).toBe('::1');
    expect(() => read('0.0.0.0:80')).toThrow(/without LATCHKEY_GATEWAY_TOKENS/);
    expect(read('0.0.0.0:80', TOKENS).host).toBe('0.0.0.0');
    expect(() => read('7244')).toThrow(/host:port/);
    expect(() => read('127.0.0.1:99999')).toThrow(/or --listen\) is "127.0.0.1:99999": must have a port of 0 to 65535/);
  });
});

describe('the tokens', () => {
  test('may lie in a file; a bad one is refused without being shown', async () => {
    const file = join(await makeTemporaryFolder(), 'tokens.json');
    writeFileSync(file, TOKENS);
    expect(readTokens(file)?.findAccess(SOME)?.name).toBe('some');
    const all = JSON.stringify([{ name: 'x', token: SOME, chats: ['*'] }]);
    expect(readTokens(all)?.findAccess(SOME)?.mayUse('any')).toBe(true);
    writeFileSync(file, `[{"name": "x", "token": "${SOME}`);
    expect(() => readTokens(file)).toThrow(/holds no JSON/);
    const refused: [unknown, RegExp][] = [
      [[{ name: 'x', token: 'short', chats: '*' }], /: token of entry 1 \("x"\) must have at least 16 characters\.$/],
      [[{ name: 'x', token: SOME, chats: [] }], /chats of entry 1 \("x"\) must be "\*" or a list of chat ids/],
      [[{ name: 'x', token: SOME, chats: 'ci-*' }], /chats of entry 1 \("x"\) must be "\*" or a list of chat ids/],
      [[{ name: 'x', token: SOME, chats: ['ok', 'a*b'] }], /chats of entry 1 \("x"\) must be/],
      [[{ name: 'x', token: SOME, chats: ['a**'] }], /chats of entry 1 \("x"\) must be/],
      [[{ name: 'x', token: SOME, chats: ['no blanks'] }], /chats of entry 1 \("x"\) must be/],
      [[{ name: 'x', token: SOME, chats: ['-*'] }], /chats of entry 1 \("x"\) must be/],
      [[{ name: 'x', token: SOME, chats: '*', [SOME]: 1 }], /entry 1 \("x"\) must be an object with the fields "name"/],
      [[{ name: 'x', token: `${SOME} ${SOME}`, chats: '*' }], /token of entry 1 \("x"\) must be of ASCII/],
      [[{ name: 'x', token: `${SOME}ü`, chats: '*' }], /token of entry 1 \("x"\) must be of ASCII/],
      [[{ token: SOME, chats: '*' }], /name of entry 1 must be a text/],
      [[SOME], /: entry 1 must be an object/],
      [[], /: it names no token/],
      [{}, /: it must be a list, such as/],
      [
        [
          { name: 'x', token: SOME, chats: '*' },
          { name: 'y', token: SOME, chats: ['a'] },
        ],
        /"x" and "y" have the same token/,
      ],
      [
        [
          { name: 'x', token: SOME, chats: '*' },
          { name: 'x', token: ALL, chats: '*' },
        ],
        /"x" is there twice/,
      ],
    ];
    for (const [value, reason] of refused) {
      expect(() => readTokens(JSON.stringify(value))).toThrow(reason);
      expect(() => readTokens(JSON.stringify(value))).not.toThrow(SOME);
    }
    expect(() => readTokens(join(file, 'nowhere'))).toThrow(/can't be read/);
  });
});

test('a token of some chats lists those only, also when they are far behind', async () => {
  const store = await openTestStore();
  const make = (chatId: string) => store.createChat({ chatId: parseChatId(chatId), agentId: AGENT });
  await make('mine-1');
  for (let other = 1; other <= 9; other += 1) await make(`other-${other}`);
  await make('mine-2');
  const { url } = await openGateway(store, { tokens: TOKENS });
  const list = async (query: string, token: string) =>
    (await (await fetch(`${url}/v1/chats?${query}`, { headers: bearer(token) })).json()) as {
      chats: { chatId: string; state: string }[];
      next?: string;
    };
  const first = await list('limit=2', SOME);
  expect(first.chats).toMatchObject([{ chatId: 'mine-2', state: 'idle' }]);
  const second = await list(`limit=2&after=${first.next}`, SOME);
  expect(second.chats.map(({ chatId }) => chatId)).toEqual(['mine-1']);
  expect((await list('limit=50', ALL)).chats).toHaveLength(11);
  const refused = await fetch(`${url}/v1/chats?limit=0`, { headers: bearer(ALL) });
  expect(await codeOf(refused)).toEqual([400, 'bad_request']);
});

test("a call's document says how long its command ran, in lists and in events", async () => {
  const store = await openStoreWithTurn();
  await store.commitStep(await beginTestStep(store), { text: 'look', calls: [draftCall('a')], agentId: AGENT });
  const key = parseExecutionKey('2-a');
  await store.recordResult({ chatId: CHAT, turn: 1, key, outcome: exitOutcome(0) });
  const { url } = await openGateway(store);
  const call = { key, exitCode: 0, durationMs: 5 };
  expect(await (await fetch(`${url}/v1/chats/${CHAT}/calls/${key}`)).json()).toMatchObject({ call });
  const events = await store.readEvents({ chatId: CHAT, after: 0, limit: 1000 });
  expect(events.at(-1)).toMatchObject({ type: 'call', call });
});

test('messages are listed with their calls, and a bad request is refused by its field', async () => {
  const store = await openStoreWithTurn();
  await store.commitStep(await beginTestStep(store), { text: 'look', calls: [draftCall('a')], agentId: AGENT });
  const { url } = await openGateway(store);
  const messages = `${url}/v1/chats/${CHAT}/messages`;
  expect(await (await fetch(messages)).json()).toMatchObject({
    hasMore: false,
    messages: [
      { id: 1, role: 'user', text: 'hello', clientMessageId: 'm1' },
      { id: 2, role: 'assistant', text: 'look', calls: [{ key: '2-a', arguments: { command: 'echo a' } }] },
    ],
  });
  expect(await (await fetch(`${messages}?before=2&limit=1`)).json()).toMatchObject({ messages: [{ id: 1 }] });
  const fieldOf = async (response: Promise<Response>) =>
    ((await (await response).json()) as { error: { field: string } }).error.field;
  const post = (body: string) =>
    fetch(messages, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  expect(await fieldOf(fetch(`${messages}?before=x`))).toBe('query.before');
  expect(await fieldOf(post('{"text": 1}'))).toBe('body.text');
  expect(await fieldOf(post('{"text": "x", "more": 1}'))).toBe('body');
  expect(await fieldOf(post('{'))).toBe('body');
  expect(await fieldOf(post(''))).toBe('body');
  expect(await codeOf(await post(`{"text": "${'x'.repeat(3 * 1024 * 1024)}"}`))).toEqual([400, 'body_too_large']);
  expect(await fieldOf(fetch(`${url}/v1/chats/-bad/messages`))).toBe('path.chatId');
});
