import { expect, test } from 'vitest';
import { startFakeOpenAi } from '../../fakes/fake-openai.ts';
import { Whole } from '../../fixtures/whole-turn.ts';

test('a turn worker that is killed before a summary is stored leaves one summary and one answer', async () => {
  const provider = await startFakeOpenAi([
    { text: 'A long answer. '.repeat(200) },
    { text: 'The lost summary.' },
    { text: 'The summary.' },
    { text: 'Fine.' },
  ]);
  // The fake counts 47 tokens for each step.
  const settings = {
    OPENAI_API_KEY: 'key',
    OPENAI_BASE_URL: provider.baseUrl,
    LATCHKEY_CONTEXT_WINDOW: '58',
  };
  const whole = await Whole.open({ turnEnv: { ...settings, LATCHKEY_FAULT_AT: 'compact-before-commit' } });
  const first = await whole.startTurn([], { model: 'openai/fake' });
  expect(await first.result()).toMatchObject({ state: 'completed' });
  const second = await whole.startTurn([], { model: 'openai/fake' });
  await second.until('the worker has died at its fault point', () => whole.worker('turn-worker').hasEnded);
  await whole.startTurnWorker(settings);
  expect(await second.result()).toMatchObject({ state: 'completed', steps: 1 });
  const view = (await whole.store.loadConversation(whole.chatId)).map(({ role, text }) => `${role}: ${text}`);
  expect(view).toEqual(['summary: The summary.', 'user: message 2', 'assistant: Fine.']);
  expect((await second.ended('compactConversation')).map(({ attempt }) => attempt)).toEqual([2]);
  const events = await whole.store.readEvents({ chatId: whole.chatId, after: 0, limit: 1000 });
  expect(events.filter((event) => event.type === 'message' && event.role === 'summary')).toHaveLength(1);
  expect(provider.bodies).toHaveLength(4);
});
