import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { openGateway } from '../../fixtures/gateway.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';
import { CHAT, openStoreWithTurn, openTestStore } from '../store/chat-fixture.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

interface Answer {
  readonly status: number;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly field?: string;
    readonly nextStep: string;
  };
}

/** Sends bytes as they are, and reads until the gateway has ended the connection. */
async function sendRaw(url: string, bytes: string): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let said = '';
  socket.setEncoding('utf8').on('data', (text: string) => (said += text));
  // The gateway may end it before it has taken all.
  socket.on('error', () => undefined);
  socket.write(bytes);
  await once(socket, 'close');
  const [head = '', body = ''] = said.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), ...(JSON.parse(body) as Pick<Answer, 'error'>) };
}

test('what is no proper request fails in the shape of every failure', async () => {
  const { url, log } = await openGateway(await openTestStore());
  const close = 'Connection: close\r\n';
  const failures: [string, number, string][] = [
    ['garbage\r\n\r\n', 400, 'request'],
    [`GET /v1/chats HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers'],
    [`GET /v1/chats HTTP/1.1\r\n${close}\r\n`, 400, 'host'],
    [`GET /healthz HTTP/1.1\r\n${close}\r\n`, 400, 'host'],
    [`GET /v1/chats/%ff HTTP/1.1\r\nHost: localhost\r\n${close}\r\n`, 400, 'path'],
    [`GET /v1/chats/${'x'.repeat(2000)} HTTP/1.1\r\nHost: localhost\r\n${close}\r\n`, 400, 'path'],
  ];
  for (const [bytes, status, field] of failures) {
    const answer = await sendRaw(url, bytes);
    const error = { code: 'bad_request', message: expect.any(String), field, nextStep: expect.any(String) };
    expect(answer, bytes.slice(0, 60)).toEqual({ status, error });
  }
  expect(log).toEqual([]);
});

test('a body of another type is told of the header, not of its fields', async () => {
  const { url } = await openGateway(await openStoreWithTurn());
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx']) {
    const headers = { 'content-type': type };
    const response = await fetch(`${url}/v1/chats/${CHAT}/messages`, {
      method: 'POST',
      body: '{"text": "x"}',
      headers,
    });
    const message = 'a body needs the header content-type: application/json';
    expect([response.status, await response.json()], type).toMatchObject([
      400,
      { error: { code: 'bad_request', field: 'content-type', message } },
    ]);
  }
});

test('a client that leaves within its body is not logged as a failure', async () => {
  const { url, log } = await openGateway(await openStoreWithTurn());
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const head = `POST /v1/chats/${CHAT}/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n`;
  socket.write(`${head}Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n`);
  // It has read the head.
  await once(socket, 'data');
  socket.write('{"text');
  socket.destroy();
  await once(socket, 'close');
  // Answered on another connection: the one that is gone was seen before.
  await waitUntil('the gateway answers', async () => (await fetch(`${url}/healthz`)).ok, { deadlineMs: 5000 });
  expect(log).toEqual([]);
});

test('who is refused is told what can be done about it here', async () => {
  const store = await openTestStore();
  const stepOf = async (response: Promise<Response>) =>
    ((await (await response).json()) as Pick<Answer, 'error'>).error;
  const { url } = await openGateway(store);
  const { port } = new URL(url);
  const rebound = await sendRaw(url, 'GET /v1/chats HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n');
  expect(rebound.error.nextStep).toMatch(/^Ask for 127\.0\.0\.1 or localhost/);
  const origin = { origin: 'https://elsewhere.example', host: `127.0.0.1:${port}` };
  expect((await stepOf(fetch(`${url}/v1/chats`, { headers: origin }))).nextStep).toMatch(/^Use the gateway's own page/);
  const tokens = JSON.stringify([{ name: 'me', token: 'a-token-of-enough-characters', chats: '*' }]);
  const guarded = await openGateway(store, { tokens });
  const asked = (authorization: string) =>
    stepOf(fetch(`${guarded.url}/v1/chats`, { method: 'GET', headers: { authorization, ...JSON_TYPE } }));
  const nextStep = expect.stringMatching(/^Send a bearer token/);
  expect(await asked('Basic x')).toMatchObject({ message: 'a bearer token of this gateway is needed', nextStep });
  const refused = 'the token was refused: it is none of this gateway';
  expect(await asked('Bearer wrong')).toMatchObject({ message: refused, nextStep });
  expect(await asked('Bearer not the one')).toMatchObject({ message: refused, nextStep });
});
