import { expect, test } from 'vitest';
import { CHAT, eventTypes, openStoreWithTurn } from '../store/chat-fixture.ts';
import { FINISH, callPart, runAttempt, startAttempt, streamingModel, textPart } from './generate-step-fixture.ts';

/** A model that stops after its first words until the gate opens, as in a worker that is frozen and continued. */
function gatedModel(name: string, { endsWithText = true } = {}) {
  const streaming = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const model = streamingModel(async function* () {
    yield textPart(`${name} begins`);
    // Asked for the next part, so the first one has been written.
    streaming.resolve();
    await gate.promise;
    if (endsWithText) yield textPart(` and ${name} ends`);
    yield callPart(name, `{"command":"echo ${name}"}`);
    yield FINISH;
  });
  return { model, streaming: streaming.promise, open: gate.resolve };
}

test('I09: of two attempts that overlap the later one gives the one message, and the first mixes nothing into it', async () => {
  const store = await openStoreWithTurn();
  const first = gatedModel('first');
  const second = gatedModel('second');
  const before = (await eventTypes(store)).length;
  const frozen = startAttempt(store, first.model, {}, { attempt: 1, currentAttemptScheduledTimestampMs: 1 });
  const frozenEnd = frozen.result.catch((error: unknown) => error);
  await first.streaming;
  const retry = startAttempt(store, second.model, {}, { attempt: 2, currentAttemptScheduledTimestampMs: 5 });
  await second.streaming;

  first.open();
  expect(await frozenEnd).toMatchObject({ type: 'too_busy', nonRetryable: false });
  const shown = await store.readEvents({ chatId: CHAT, after: before, limit: 100 });
  expect(shown.map((event) => ('text' in event ? event.text : event.type))).toEqual(['withdrawn', 'second begins']);

  second.open();
  const result = await retry.result;
  expect(result.calls.map((call) => call.key)).toEqual(['2-second']);
  expect((await store.loadConversation(CHAT)).map((message) => message.text)).toEqual([
    'hello',
    'second begins and second ends',
  ]);
  expect((await eventTypes(store)).slice(before)).toEqual(['withdrawn', 'message']);
});

test('I09: an attempt that is continued after the other has committed returns what stands', async () => {
  const store = await openStoreWithTurn();
  const first = gatedModel('first', { endsWithText: false });
  const frozen = startAttempt(store, first.model, {}, { currentAttemptScheduledTimestampMs: 1 });
  const frozenEnd = frozen.result.catch((error: unknown) => error);
  await first.streaming;
  const second = gatedModel('second');
  second.open();
  const committed = await runAttempt(store, second.model, {}, { currentAttemptScheduledTimestampMs: 5 });
  first.open();
  expect(await frozenEnd).toEqual(committed);
  expect(await runAttempt(store, first.model, {}, { currentAttemptScheduledTimestampMs: 9 })).toEqual(committed);
  expect((await store.listCalls({ chatId: CHAT })).map((call) => call.key)).toEqual(['2-second']);
});

test('I09: an attempt that a frozen worker swallowed and starts late leaves the live one alone', async () => {
  const store = await openStoreWithTurn();
  const live = gatedModel('live');
  const running = startAttempt(store, live.model, {}, { currentAttemptScheduledTimestampMs: 9 });
  await live.streaming;
  await expect(
    runAttempt(store, gatedModel('swallowed').model, {}, { currentAttemptScheduledTimestampMs: 5 }),
  ).rejects.toMatchObject({ type: 'too_busy' });
  live.open();
  expect((await running.result).calls.map((call) => call.key)).toEqual(['2-live']);
});
