import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildNotice } from '../../../activities/notices/build-notice.ts';
import { sendWebhook } from '../../../activities/notices/send-webhook.ts';
import { signWebhook } from '../../../activities/notices/sign-webhook.ts';
import { parseWebhookSecrets } from '../../../activities/notices/webhook-secrets.ts';
import { readTurnWorkerConfiguration } from '../../../workers/configuration.ts';
import { startWebhookReceiver, WEBHOOK_SECRET } from '../../fixtures/webhook-receiver.ts';
import { AGENT, CHAT, beginTestStep, draftCall, openStoreWithTurn } from '../store/chat-fixture.ts';

/** The vector that the convention's own libraries are tested with. */
const VECTOR = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampSeconds: 1_614_265_330, body: '{"test": 2432232314}' };
const VECTOR_SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

const signed = { ...VECTOR, secrets: parseWebhookSecrets(WEBHOOK_SECRET) };
const sent = { headers: {}, body: '{}', signal: new AbortController().signal };

test('a notice is signed as the Standard Webhooks convention says, once a secret', () => {
  expect(signWebhook(signed)).toEqual({
    'webhook-id': VECTOR.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': VECTOR_SIGNATURE,
  });
  const other = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const both = signWebhook({ ...VECTOR, secrets: parseWebhookSecrets(`${other} ${WEBHOOK_SECRET}`) });
  expect(both['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
  expect(both['webhook-signature']!.endsWith(VECTOR_SIGNATURE)).toBe(true);
});

test('a worker with an address and no fitting secret refuses to start, and shows neither', () => {
  const read = (env: Record<string, string>) => readTurnWorkerConfiguration({ env, args: ['--store', 'sqlite:/x'] });
  const url = 'https://example.com/hook';
  for (const secret of ['', 'whsec_', 'whsec_c2hvcnQ=', `hunter2${WEBHOOK_SECRET}`, 'whsec_@@@@']) {
    const attempt = () => read({ LATCHKEY_WEBHOOK_URL: url, LATCHKEY_WEBHOOK_SECRET: secret });
    expect(attempt).toThrow(/^LATCHKEY_WEBHOOK_SECRET must be "whsec_"/);
    expect(attempt).not.toThrow(/hunter2|c2hvcnQ/);
  }
  expect(() => read({ LATCHKEY_WEBHOOK_URL: 'ftp://x' })).toThrow('must be an http or https address');
  expect(read({ LATCHKEY_WEBHOOK_URL: url, LATCHKEY_WEBHOOK_SECRET: WEBHOOK_SECRET })).toMatchObject({
    webhook: { url },
  });
  expect(read({})).not.toHaveProperty('webhook');
});

test.each([
  [204, 'delivered'],
  [410, 'refused'],
  [400, 'refused'],
  [408, 'failed'],
  [429, 'failed'],
  [500, 'failed'],
  ['cut', 'failed'],
] as const)('an answer of %s means %s', async (answer, kind) => {
  const receiver = await startWebhookReceiver([answer]);
  const result = await sendWebhook({ ...sent, url: receiver.url });
  expect(result.kind).toBe(kind);
  // The path of such an address is often a secret itself.
  expect(JSON.stringify(result)).not.toContain('secret-path');
});

test('a redirect is not followed, and Retry-After is told', async () => {
  const elsewhere = await startWebhookReceiver();
  const headers = { location: elsewhere.url, 'retry-after': '7' };
  const receiver = await startWebhookReceiver([
    { status: 307, headers },
    { status: 503, headers },
  ]);
  expect(await sendWebhook({ ...sent, url: receiver.url })).toMatchObject({
    kind: 'failed',
    reason: expect.stringContaining('307, a redirect'),
  });
  expect(await sendWebhook({ ...sent, url: receiver.url })).toMatchObject({ kind: 'failed', retryAfterMs: 7000 });
  expect(elsewhere.received).toEqual([]);
});

test('nobody at the address is a failure that names its host, and a cancel ends a silent one', async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const cancel = new AbortController();
  const silent = sendWebhook({ ...sent, url: `http://127.0.0.1:${port}/`, signal: cancel.signal });
  cancel.abort(new Error('cancelled'));
  await expect(silent).rejects.toThrow('cancelled');
  await new Promise((resolve) => server.close(resolve));
  const gone = await sendWebhook({ ...sent, url: `http://127.0.0.1:${port}/` });
  expect(gone).toMatchObject({ kind: 'failed', reason: expect.stringContaining(`127.0.0.1:${port} could not`) });
});

test('a notice tells of a turn by counts, error and title, with nothing else that was said, and always by one id', async () => {
  const store = await openStoreWithTurn();
  const turn = { chatId: CHAT, turn: 1 };
  await store.commitStep(await beginTestStep(store), { text: 'secret', calls: [draftCall('a')], agentId: AGENT });
  expect(await store.findEndedTurn(turn)).toBeUndefined();
  await store.closeStep({ ...turn, step: 1 });
  await store.endTurn({ ...turn, state: 'failed', error: { code: 'model_refused', message: 'no' } });
  const ended = (await store.findEndedTurn(turn))!;
  const { id, body } = buildNotice(turn, ended);
  expect(JSON.parse(body)).toEqual({
    type: 'turn.failed',
    timestamp: ended.endedAt,
    chatId: CHAT,
    turn: 1,
    state: 'failed',
    error: { code: 'model_refused', message: 'no' },
    steps: 1,
    calls: 1,
    // The first line of the first message.
    title: 'hello',
  });
  expect(buildNotice(turn, { ...ended, title: 'Mend it' })).toMatchObject({
    id,
    body: expect.stringContaining('Mend it'),
  });
  expect(id).toMatch(/^turn_[0-9a-f]{32}$/);
  expect(buildNotice({ ...turn, turn: 2 }, ended).id).not.toBe(id);
});

test('the way to verify a notice in docs/operations.md takes what is genuine and nothing else', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');
  const snippet = /```js\n(.*?isFromLatchkey.*?)```/s.exec(page)?.[1] ?? '';
  const { isFromLatchkey } = (await import(`data:text/javascript,${encodeURIComponent(snippet)}`)) as {
    isFromLatchkey(headers: Record<string, string>, body: string | Buffer, secret: string): boolean;
  };
  const now = Math.floor(Date.now() / 1000);
  const headers = signWebhook({ ...signed, timestampSeconds: now });
  expect(isFromLatchkey(headers, VECTOR.body, WEBHOOK_SECRET)).toBe(true);
  expect(isFromLatchkey(headers, Buffer.from(VECTOR.body), WEBHOOK_SECRET)).toBe(true);
  expect(isFromLatchkey(headers, `${VECTOR.body} `, WEBHOOK_SECRET)).toBe(false);
  expect(isFromLatchkey({ ...headers, 'webhook-id': 'other' }, VECTOR.body, WEBHOOK_SECRET)).toBe(false);
  expect(isFromLatchkey(signWebhook(signed), VECTOR.body, WEBHOOK_SECRET)).toBe(false);
  expect(isFromLatchkey({}, VECTOR.body, WEBHOOK_SECRET)).toBe(false);
});
