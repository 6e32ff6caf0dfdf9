import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { isWindowFull } from '../../../activities/model/compaction/context-window.ts';
import { promptRefusal } from '../../../activities/model/strict-prompt.ts';
import { createTurnActivities } from '../../../activities/turn-activities.ts';
import type { CompactConversationInput } from '../../../contract/activity-interfaces.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import { readTurnWorkerConfiguration } from '../../../workers/configuration.ts';
import type { Store } from '../../../store/store.ts';
import { FINISH, modelOf, runAttempt, textPart } from '../activities-turn/generate-step-fixture.ts';
import { AGENT, CHAT, beginTestStep, openStoreWithTurn } from '../store/chat-fixture.ts';

const INPUT: CompactConversationInput = {
  chatId: CHAT,
  turn: 2,
  number: 1,
  messageId: parseMessageId(4),
  model: 'test',
  isRefused: true,
};
const LONG = 'word '.repeat(4000);

/** An answered turn of 20 KB, and a second one whose message has no answer yet. */
async function storeWithTwoTurns(): Promise<Store> {
  const store = await openStoreWithTurn();
  await store.commitStep(await beginTestStep(store), { text: LONG, calls: [], agentId: AGENT });
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'and now?' });
  await store.takeTurn({ chatId: CHAT, turn: await store.reserveNextTurn(CHAT), agentId: AGENT });
  return store;
}

function run(store: Store, model: LanguageModelV4, input: Partial<CompactConversationInput> = {}) {
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  const { compactConversation } = createTurnActivities({ store, models: () => model });
  return { environment, result: environment.run(compactConversation, { ...INPUT, ...input }) };
}

/** Refuses requests of more bytes, as a provider does. */
function modelWithRoom(bytesMax: number, prompts: LanguageModelV4Prompt[]): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async ({ prompt, tools }) => {
      expect(tools).toBeUndefined();
      prompts.push(prompt);
      if (JSON.stringify(prompt).length > bytesMax) throw promptRefusal('prompt is too long');
      return modelOf(textPart('In short.'), FINISH).doStream({ prompt });
    },
  });
}

const view = async (store: Store) => (await store.loadConversation(CHAT)).map(({ role, text }) => `${role}: ${text}`);

test('a request for a summary that is too long as well is shortened until it fits', async () => {
  const store = await storeWithTwoTurns();
  const prompts: LanguageModelV4Prompt[] = [];
  expect(await run(store, modelWithRoom(6000, prompts)).result).toEqual({ messageId: 4, messageCount: 2 });
  expect(prompts.length).toBeGreaterThan(1);
  expect(JSON.stringify(prompts)).not.toContain('and now?');
  expect(await view(store)).toEqual(['summary: In short.', 'user: and now?']);
});

test('a model that takes not even a short request gives no summary, and nothing changed', async () => {
  const store = await storeWithTwoTurns();
  const before = await view(store);
  const prompts: LanguageModelV4Prompt[] = [];
  await expect(run(store, modelWithRoom(10, prompts)).result).rejects.toMatchObject({
    type: 'model_context_too_long',
    nonRetryable: true,
  });
  expect(prompts.length).toBeLessThan(6);
  expect(await view(store)).toEqual(before);
});

test('a second attempt of what is committed asks no model, and a summary that is too long is cut', async () => {
  const store = await storeWithTwoTurns();
  const talkative = modelOf(textPart('x'.repeat(50_000)), FINISH);
  const result = await run(store, talkative).result;
  expect(await run(store, new MockLanguageModelV4()).result).toEqual(result);
  const [summary] = await store.loadConversation(CHAT);
  expect(summary!.text.length).toBeLessThanOrEqual(LONG.length / 2 + 10);
});

test.each(['while the model is asked', 'when it has answered'])(
  'an attempt cancelled %s commits nothing',
  async (when) => {
    const store = await storeWithTwoTurns();
    const before = await view(store);
    const cancelAt = (moment: string) => {
      if (moment === when) attempt.environment.cancel();
    };
    const parts = [textPart('In short.'), FINISH];
    const model = new MockLanguageModelV4({
      doStream: async () => {
        cancelAt('while the model is asked');
        const stream = new ReadableStream<(typeof parts)[number]>({
          pull: (controller) => controller.enqueue(parts.shift()!),
          // Whoever has read its end leaves it so.
          cancel: () => cancelAt('when it has answered'),
        });
        return { stream };
      },
    });
    const attempt = run(store, model);
    await expect(attempt.result).rejects.toThrow();
    expect(await view(store)).toEqual(before);
  },
);

test('a summary without a word is a refusal, and one that is not worth its price is not asked for', async () => {
  const store = await storeWithTwoTurns();
  await expect(run(store, modelOf(FINISH)).result).rejects.toMatchObject({ type: 'model_refused' });
  const small = await openStoreWithTurn();
  const input = { turn: 1, messageId: parseMessageId(2) };
  expect(await run(small, new MockLanguageModelV4(), input).result).toEqual({ messageCount: 0 });
});

test('a step is held back while the share of the window is used, and asked for where room was made', async () => {
  const window = { tokens: 100, compactAtShare: 0.8 };
  expect(isWindowFull(window, { model: 'm', inputTokens: 70, outputTokens: 9 })).toBe(false);
  expect(isWindowFull(window, { model: 'm', inputTokens: 70, outputTokens: 10 })).toBe(true);
  expect(isWindowFull(window, { model: 'm' })).toBe(false);
  expect(isWindowFull(window, undefined)).toBe(false);
  const store = await openStoreWithTurn();
  const usage = { model: 'm', inputTokens: 80, outputTokens: 1 };
  await store.commitStep(await beginTestStep(store), { text: LONG, calls: [], agentId: AGENT, usage });
  const { generateStep } = createTurnActivities({
    store,
    models: () => modelOf(textPart('Hello.'), FINISH),
    contextWindow: window,
  });
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  const step = { chatId: CHAT, turn: 1, step: 2, messageId: parseMessageId(3), stepNonce: 'n', agentId: AGENT };
  const input = { ...step, model: 'test', showCommands: true };
  expect(await environment.run(generateStep, input)).toEqual({ isCompactionDue: true });
  // What stands by now wins: also the id that the step was first offered.
  const again = { ...input, messageId: parseMessageId(9), isCompacted: true };
  expect(await environment.run(generateStep, again)).toMatchObject({ messageId: 3, isFinal: true });
  expect(await runAttempt(store, modelOf(), { step: 2 })).toMatchObject({ messageId: 3 });
});

test('the settings of the window are read, and refused by name', () => {
  const read = (env: Record<string, string>) => readTurnWorkerConfiguration({ env, args: ['--store', 'sqlite:/x'] });
  expect(read({})).toMatchObject({ compactAtShare: 0.8 });
  expect(read({}).contextWindow).toBeUndefined();
  expect(read({ LATCHKEY_CONTEXT_WINDOW: '200000', LATCHKEY_COMPACT_AT: '.75' })).toMatchObject({
    contextWindow: 200_000,
    compactAtShare: 0.75,
  });
  for (const share of ['0', '80', '1.5', '-1', '0.0', 'most']) {
    expect(() => read({ LATCHKEY_COMPACT_AT: share })).toThrow(/^LATCHKEY_COMPACT_AT .*a share between 0 and 1/);
  }
});
