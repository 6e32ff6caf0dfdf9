import { APICallError } from '@ai-sdk/provider';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { describe, expect, test, vi } from 'vitest';
import { Refusal } from '../../../contract/failures.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import { CHAT, AGENT, TARGET, eventTypes, openStoreWithTurn } from '../store/chat-fixture.ts';
import {
  FINISH,
  callPart,
  modelOf,
  runAttempt,
  startAttempt,
  streamingModel,
  textPart,
} from './generate-step-fixture.ts';

test('F10: text and calls are committed together as reserved rows before anything is handed back', async () => {
  const store = await openStoreWithTurn();
  const model = modelOf(textPart('I '), textPart('look.'), callPart('a', '{"command":"ls\\npwd"}'), FINISH);
  const result = await runAttempt(store, model);
  expect(result).toMatchObject({
    messageId: 2,
    isFinal: false,
    calls: [{ key: '2-a', nonce: 'nonce.0', summary: '$ ls …', status: 'reserved', agentId: AGENT }],
  });
  expect(await store.listCalls({ chatId: CHAT })).toMatchObject(result.calls as object[]);
  expect((await store.loadConversation(CHAT))[1]).toMatchObject({ text: 'I look.', calls: [{ key: '2-a' }] });
});

test('a committed step returns what is stored and asks no model', async () => {
  const store = await openStoreWithTurn();
  const first = await runAttempt(store, modelOf(callPart('a', '{"command":"ls"}'), FINISH));
  const unasked = () => {
    throw new Error('a model was asked');
  };
  const again = await runAttempt(store, unasked, { messageId: parseMessageId(7), stepNonce: 'other' });
  expect(again).toEqual(first);
});

test('a reply without calls is final', async () => {
  const store = await openStoreWithTurn();
  expect(await runAttempt(store, modelOf(textPart('done'), FINISH))).toEqual({
    messageId: 2,
    calls: [],
    isFinal: true,
  });
});

test('with showCommands off no command is in a summary', async () => {
  const store = await openStoreWithTurn();
  const model = modelOf(callPart('a', '{"command":"echo secret"}'), FINISH);
  const { calls } = await runAttempt(store, model, { showCommands: false });
  expect(calls[0]).toMatchObject({ summary: 'execute', request: { command: 'echo secret' } });
});

test('C1: no model is asked while a call of the conversation has no result', async () => {
  const store = await openStoreWithTurn();
  await runAttempt(store, modelOf(callPart('a', '{"command":"ls"}'), FINISH));
  const model = modelOf(FINISH);
  await expect(runAttempt(store, model, { step: 2, messageId: parseMessageId(3) })).rejects.toMatchObject({
    type: 'invariant_broken',
    nonRetryable: true,
  });
  expect(model.doStreamCalls).toHaveLength(0);
});

describe('a target is committed with the calls', () => {
  const model = () => modelOf(callPart('a', '{"command":"ls"}'), FINISH);
  /** By the server's clock: when the activity and when this attempt was scheduled, before now by the worker's clock. */
  const scheduled = (agoMs: number, attemptAgoMs = agoMs) => {
    const now = Date.now();
    return { scheduledTimestampMs: now - agoMs, currentAttemptScheduledTimestampMs: now - attemptAgoMs };
  };

  test.each([
    { name: 'while it is fresh', targetAgeMs: 100, agoMs: 0, isCommitted: true },
    { name: 'with a worker whose clock is behind', targetAgeMs: 100, agoMs: -60_000, isCommitted: true },
    { name: 'not when it was old already', targetAgeMs: 2_000, agoMs: 0, isCommitted: false },
    { name: 'not when the activity waited for a worker', targetAgeMs: 0, agoMs: 2_500, isCommitted: false },
    {
      name: 'not in a second attempt that comes late by the server',
      targetAgeMs: 0,
      agoMs: -60_000,
      attemptAgoMs: -63_000,
      isCommitted: false,
    },
    { name: 'not when its age is not known', targetAgeMs: undefined, agoMs: 0, isCommitted: false },
  ])('$name', async ({ targetAgeMs, agoMs, attemptAgoMs, isCommitted }) => {
    const store = await openStoreWithTurn();
    const age = targetAgeMs === undefined ? {} : { targetAgeMs };
    const { calls } = await runAttempt(store, model(), { target: TARGET, ...age }, scheduled(agoMs, attemptAgoMs));
    expect(calls[0]!.target).toEqual(isCommitted ? TARGET : undefined);
  });

  test('not when the model took its time', async () => {
    const store = await openStoreWithTurn();
    let now = 0;
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const slow = streamingModel(async function* () {
      now = 2_500;
      yield callPart('a', '{"command":"ls"}');
      yield FINISH;
    });
    const { calls } = await runAttempt(store, slow, { target: TARGET, targetAgeMs: 0 }, scheduled(0));
    spy.mockRestore();
    expect(calls[0]).not.toHaveProperty('target');
  });
});

describe('a failing model', () => {
  const apiError = (isRetryable: boolean) =>
    new APICallError({ message: 'no\ud800', url: 'x', requestBodyValues: {}, statusCode: 400, isRetryable });

  test.each([
    [
      'that refuses ends the turn with model_refused',
      modelOf({ type: 'error', error: apiError(false) }),
      'model_refused',
      true,
    ],
    [
      'that is overloaded is tried again',
      modelOf({ type: 'error', error: apiError(true) }),
      'model_unavailable',
      false,
    ],
    ['whose stream is cut is tried again', modelOf(textPart('ha')), 'model_unavailable', false],
    ['that throws something odd is tried again', modelOf({ type: 'error', error: 'odd' }), 'model_unavailable', false],
  ])('%s', async (_name, model, type, nonRetryable) => {
    const store = await openStoreWithTurn();
    const failure = await runAttempt(store, model).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ type, nonRetryable });
    expect((failure as Error).message.isWellFormed()).toBe(true);
    expect(await store.listCalls({ chatId: CHAT })).toEqual([]);
  });

  test('that is not configured ends the turn and names the setting', async () => {
    const store = await openStoreWithTurn();
    const models = () => {
      throw new Refusal('configuration', 'model "x" is not known');
    };
    await expect(runAttempt(store, models)).rejects.toMatchObject({ type: 'configuration', nonRetryable: true });
  });
});

test('a retry withdraws what the failed attempt showed, and watchers end up with the text once', async () => {
  const store = await openStoreWithTurn();
  const before = (await eventTypes(store)).length;
  await expect(runAttempt(store, modelOf(textPart('half')))).rejects.toThrow();
  expect((await eventTypes(store)).slice(before)).toEqual(['withdrawn', 'retry']);
  await runAttempt(store, modelOf(textPart('whole'), FINISH));
  const events = await store.readEvents({ chatId: CHAT, after: before, limit: 100 });
  expect(events.map((event) => event.type)).toEqual(['withdrawn', 'retry', 'message']);
  expect(events[2]).toMatchObject({ text: 'whole' });
});

test('a cancelled attempt aborts the model call, commits nothing and ends as cancelled', async () => {
  const store = await openStoreWithTurn();
  const streaming = Promise.withResolvers<AbortSignal | undefined>();
  const deaf = streamingModel(async function* (signal) {
    yield textPart('half');
    streaming.resolve(signal);
    await new Promise(() => {});
  });
  const { environment, result } = startAttempt(store, deaf);
  const signal = await streaming.promise;
  environment.cancel('WORKER_SHUTDOWN');
  await expect(result).rejects.toThrow(CancelledFailure);
  expect(signal!.aborted).toBe(true);
  expect(await store.loadConversation(CHAT)).toHaveLength(1);
});

test('the activity beats while the model is silent', async () => {
  const store = await openStoreWithTurn();
  const gate = Promise.withResolvers<void>();
  const silent = streamingModel(async function* () {
    await gate.promise;
    yield FINISH;
  });
  const { environment, result } = startAttempt(store, silent, {}, { heartbeatTimeoutMs: 40 });
  let beats = 0;
  environment.on('heartbeat', () => {
    beats++;
    if (beats === 5) gate.resolve();
  });
  await result;
  expect(beats).toBeGreaterThanOrEqual(5);
});

test.each([
  ['turn_closed', 1, true],
  ['step_closed', 1, false],
  // It was taken before a step of it begins, so the store has forgotten it (I02).
  ['store_rolled_back', 2, false],
])('%s leaves the activity as a failure that is not retried', async (type, turn, hasEnded) => {
  const store = await openStoreWithTurn();
  await store.closeStep({ chatId: CHAT, turn: 1, step: 1 });
  if (hasEnded) await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
  await expect(runAttempt(store, modelOf(FINISH), { turn })).rejects.toMatchObject({ type, nonRetryable: true });
});
