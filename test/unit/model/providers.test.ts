import { describe, expect, test } from 'vitest';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { resolveModel } from '../../../activities/model/resolve-model.ts';
import { createTurnActivities } from '../../../activities/turn-activities.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import type { ExecutionKey } from '../../../contract/ids.ts';
import type { Store } from '../../../store/store.ts';
import { startFakeOpenAi } from '../../fakes/fake-openai.ts';
import type { FakeReply } from '../../fakes/fake-provider.ts';
import { ANTHROPIC, COMPATIBLE, OPENAI, PROVIDERS } from '../../fixtures/providers.ts';
import { STEP, runAttempt } from '../activities-turn/generate-step-fixture.ts';
import { CHAT, eventTypes, exitOutcome, openStoreWithTurn } from '../store/chat-fixture.ts';

const LS = { id: 'call_1', arguments: { command: 'ls' } };

/** Gives each call of the last step its result, as the workflow does. */
async function resolveAll(store: Store): Promise<void> {
  for (const { key, status } of await store.listCalls({ chatId: CHAT })) {
    if (status !== 'reserved') continue;
    await store.recordResult({ chatId: CHAT, turn: 1, key, outcome: exitOutcome(0, `result of ${key}`) });
  }
}

/** Steps until one is final; the strict fakes refuse whatever history they would not take. */
async function runSteps(store: Store, model: Parameters<typeof runAttempt>[1]): Promise<readonly ExecutionKey[]> {
  for (let step = 1; step < 10; step++) {
    const result = await runAttempt(store, model, { step, messageId: parseMessageId(step + 1) });
    if (result.isFinal) return (await store.listCalls({ chatId: CHAT })).map(({ key }) => key);
    await resolveAll(store);
  }
  throw new Error('the model never ended');
}

describe.each(PROVIDERS)('$name', (each) => {
  test('streams text and calls into the store, and what the step cost is kept', async () => {
    const store = await openStoreWithTurn();
    const { provider, model } = await each.serve([{ text: 'I look around, slowly.', calls: [LS], delayMs: 60 }]);
    const before = (await eventTypes(store)).length;
    const step = runAttempt(store, model);
    const result = await step;
    expect(result.calls).toMatchObject([{ key: '2-call_1', toolName: 'execute', request: { command: 'ls' } }]);
    const [, assistant] = await store.loadConversation(CHAT);
    expect(assistant).toMatchObject({ text: 'I look around, slowly.' });
    // The parts were dropped with the commit; their places in the order show that there were some.
    const events = await store.readEvents({ chatId: CHAT, after: before, limit: 100 });
    expect(events.map(({ type }) => type)).toEqual(['message']);
    expect(events[0]!.seq).toBeGreaterThan(before + 1);
    const [used] = await store.listUsage({ chatId: CHAT });
    expect(used).toMatchObject({ turn: 1, step: 1, usage: { model: 'test', inputTokens: 40, outputTokens: 7 } });
    expect(provider.bodies[0]).toMatchObject({ model: 'fake', stream: true });
    expect(JSON.stringify(provider.bodies[0])).toContain('process_output');
  });

  describe('R8: an id that comes in every step is another call each time, and the ids sent back are unique', () => {
    test('F03: an id that comes in every step is another call each time, and the ids sent back are unique', async () => {
      const store = await openStoreWithTurn();
      const again = (command: string): FakeReply => ({ calls: [{ id: 'run_shell:0', arguments: { command } }] });
      const { model } = await each.serve([again('echo one'), again('echo two'), again('echo three')]);
      expect(await runSteps(store, model)).toEqual(['2-run_shell:0', '3-run_shell:0', '4-run_shell:0']);
      const results = (await store.listCalls({ chatId: CHAT })).map(({ result }) => result?.text);
      expect(results).toEqual(['result of 2-run_shell:0', 'result of 3-run_shell:0', 'result of 4-run_shell:0']);
    });
  });

  describe('R9: odd, empty and colliding ids in one reply are calls of their own, and what is sent back fits', () => {
    test('F04: odd, empty and colliding ids in one reply are calls of their own, and what is sent back fits', async () => {
      const store = await openStoreWithTurn();
      const ids = [
        'functions.exec:0',
        'functions.exec_0',
        'a/b',
        'a b',
        '../../x',
        '%2F',
        'call|fc_1',
        'a\nb',
        '日本',
        'x'.repeat(300),
      ];
      const calls = ids.map((id, index) => ({ id, arguments: { command: `echo ${index}` } }));
      const { provider, model } = await each.serve([{ calls }]);
      const keys = await runSteps(store, model);
      expect(keys).toEqual(ids.map((id) => `2-${id}`));
      expect(provider.bodies).toHaveLength(2);
    });
  });

  describe('R7: malformed arguments become results, and the next request holds objects', () => {
    test('F05: malformed arguments become results, and the next request holds objects', async () => {
      const store = await openStoreWithTurn();
      const texts = [
        '{"command":"ls"',
        '"ls"',
        '[]',
        'null',
        '{"command":5}',
        '{"command":"echo 1"}{"command":"echo 2"}',
      ];
      const calls = texts.map((text, index) => ({ id: `c${index}`, arguments: text }));
      const { provider, model } = await each.serve([{ calls }]);
      await runSteps(store, model);
      const stored = await store.listCalls({ chatId: CHAT });
      expect(stored.map(({ status }) => status)).toEqual(texts.map(() => 'no_effect'));
      expect(stored.every(({ request, result }) => request === undefined && result?.isError === true)).toBe(true);
      expect(provider.bodies).toHaveLength(2);
    });
  });

  test('R10: a result with marks for odd bytes passes as strict JSON', async () => {
    const store = await openStoreWithTurn();
    const { provider, model } = await each.serve([{ calls: [LS] }]);
    await runAttempt(store, model);
    const text = 'A\ufffd B \\0 界 \u2028 "quoted" \\ \ud83d\ude00 \ud800';
    await store.recordResult({ chatId: CHAT, turn: 1, key: '2-call_1' as ExecutionKey, outcome: exitOutcome(0, text) });
    await runAttempt(store, model, { step: 2, messageId: parseMessageId(3) });
    expect(JSON.stringify(provider.bodies[1])).toContain(JSON.stringify(text.toWellFormed()).slice(1, -1));
  });

  test('F09: a stream that breaks is tried again, and what it showed is withdrawn at once', async () => {
    const store = await openStoreWithTurn();
    const text = 'a text of four pieces';
    const { model } = await each.serve([{ text, breaksAfter: 3, delayMs: 60 }, { text }]);
    const before = (await eventTypes(store)).length;
    await expect(runAttempt(store, model)).rejects.toMatchObject({ type: 'model_unavailable', nonRetryable: false });
    expect((await eventTypes(store)).slice(before)).toEqual(['withdrawn', 'retry']);
    await runAttempt(store, model);
    expect((await eventTypes(store)).slice(before)).toEqual(['withdrawn', 'retry', 'message']);
    expect((await store.loadConversation(CHAT)).map((message) => message.text)).toEqual(['hello', text]);
  });

  test('a limit on the rate waits as long as the provider says, and watchers are told', async () => {
    const store = await openStoreWithTurn();
    const headers = { 'retry-after': '7' };
    const error = { error: { type: 'rate_limit_error', message: 'slow down' } };
    const { provider, model } = await each.serve([{ status: 429, error, headers }]);
    const failure = await runAttempt(store, model).catch((reason: unknown) => reason);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ type: 'model_rate_limited', nonRetryable: false, nextRetryDelay: 7000 });
    const events = await store.readEvents({ chatId: CHAT, after: 0, limit: 100 });
    expect(events.at(-1)).toMatchObject({ type: 'retry', code: 'model_rate_limited', attempt: 1, retryInMs: 7000 });
    // Nothing beneath Temporal repeats a request.
    expect(provider.bodies).toHaveLength(1);
  });

  test('an error in the midst of the stream is read as what it is', async () => {
    const store = await openStoreWithTurn();
    const overloaded = { type: 'overloaded_error', message: 'Overloaded' };
    const { model } = await each.serve([{ text: 'I was about to', streamError: overloaded }]);
    await expect(runAttempt(store, model)).rejects.toMatchObject({
      type: 'model_unavailable',
      message: expect.stringContaining('Overloaded'),
    });
  });

  test.each([
    [401, { type: 'authentication_error', message: 'invalid x-api-key' }, 'model_unauthorized'],
    [
      400,
      { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
      'model_context_too_long',
    ],
    [429, { type: 'insufficient_quota', message: 'quota', code: 'insufficient_quota' }, 'model_quota_exhausted'],
    [404, { type: 'not_found_error', message: 'no such model' }, 'model_refused'],
  ])('HTTP %i that no repeat changes ends the turn at once: %o', async (status, error, type) => {
    const store = await openStoreWithTurn();
    const { model } = await each.serve([{ status, error: { error } }]);
    await expect(runAttempt(store, model)).rejects.toMatchObject({ type, nonRetryable: true });
    expect(await eventTypes(store)).not.toContain('retry');
  });

  test('a reply that is cut off at its length limit says so to the model', async () => {
    const store = await openStoreWithTurn();
    const { model } = await each.serve([
      { calls: [{ id: 'a', arguments: '{"command":"cat > f <<E' }], isCutShort: true },
    ]);
    await runAttempt(store, model);
    const [call] = await store.listCalls({ chatId: CHAT });
    expect(call!.result!.text).toMatch(/not valid JSON.*cut off at its length limit, so write less at once/);
  });

  test('a provider that falls silent is given up and tried again', async () => {
    const store = await openStoreWithTurn();
    const { model } = await each.serve(['silence', { text: 'here' }]);
    const { generateStep } = createTurnActivities({ store, models: () => model, modelSilenceMsMax: 300 });
    const environment = () => new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
    await expect(environment().run(generateStep, STEP)).rejects.toMatchObject({
      type: 'model_unavailable',
      message: expect.stringContaining('was silent for 0.3 s'),
    });
    await environment().run(generateStep, STEP);
  });
});

test('after the last attempt nobody is told of another one, and the error says how many there were', async () => {
  const store = await openStoreWithTurn();
  const { model } = await OPENAI.serve([{ status: 503, error: { error: { message: 'out for lunch' } } }]);
  const info = { attempt: 25, retryPolicy: { maximumAttempts: 25 } };
  await expect(runAttempt(store, model, {}, info)).rejects.toMatchObject({
    type: 'model_unavailable',
    message: expect.stringMatching(/^after 25 attempts: the provider answered: out for lunch \(HTTP 503\)\. /),
  });
  expect(await eventTypes(store)).not.toContain('retry');
});

test('R9: calls without an id or with an empty one are told apart; a second attempt gives what was stored', async () => {
  for (const each of [OPENAI, COMPATIBLE]) {
    const store = await openStoreWithTurn();
    const call = (id: string | undefined, command: string) => ({
      ...(id === undefined ? {} : { id }),
      arguments: { command },
    });
    const calls = [
      call('', 'echo 0'),
      call('', 'echo 1'),
      call(undefined, 'echo 2'),
      call('twice', 'echo 3'),
      call('twice', 'echo 4'),
    ];
    const { provider, model } = await each.serve([{ calls }]);
    const first = await runAttempt(store, model);
    expect(new Set(first.calls.map(({ key }) => key)).size).toBe(5);
    expect(first.calls.map(({ request }) => request && 'command' in request && request.command)).toEqual(
      [0, 1, 2, 3, 4].map((index) => `echo ${index}`),
    );
    expect(await runAttempt(store, model)).toEqual(first);
    expect(provider.bodies).toHaveLength(1);
    await resolveAll(store);
    await runAttempt(store, model, { step: 2, messageId: parseMessageId(3) });
    expect(provider.bodies).toHaveLength(2);
  }
});

test('keys go where each provider looks for them, and without one no header is sent', async () => {
  const sent = async (each: typeof OPENAI) => {
    const { provider, model } = await each.serve([{ text: 'hi' }]);
    await runAttempt(await openStoreWithTurn(), model);
    return provider.headers[0]!;
  };
  expect((await sent(OPENAI)).authorization).toBe('Bearer key-o');
  expect((await sent(ANTHROPIC))['x-api-key']).toBe('key-a');
  expect((await sent(COMPATIBLE)).authorization).toBeUndefined();
});

test('Anthropic is told up to where the next request will be the same, so that only the rest is charged in full', async () => {
  const store = await openStoreWithTurn();
  const { provider, model } = await ANTHROPIC.serve([{ calls: [LS] }]);
  await runSteps(store, model);
  const ephemeral = { cache_control: { type: 'ephemeral' } };
  expect(provider.bodies[1]).toMatchObject({ system: [ephemeral] });
  const messages = provider.bodies[1]!['messages'] as { content: object[] }[];
  expect(messages.at(-1)!.content.at(-1)).toMatchObject({ type: 'tool_result', ...ephemeral });
  expect(JSON.stringify(messages.slice(0, -1))).not.toContain('cache_control');
  const [used] = await store.listUsage({ chatId: CHAT });
  expect(used!.usage).toMatchObject({ cacheReadTokens: 25, cacheWriteTokens: 5 });
});

test('the most output that is asked for can be set', async () => {
  const provider = await startFakeOpenAi([{ text: 'hi' }]);
  const env = { LATCHKEY_MODEL_BASE_URL: provider.baseUrl, LATCHKEY_MODEL_MAX_OUTPUT_TOKENS: '1234' };
  await runAttempt(await openStoreWithTurn(), await resolveModel('openai-compatible/m', { env }));
  expect(provider.bodies[0]).toMatchObject({ max_tokens: 1234 });
});
