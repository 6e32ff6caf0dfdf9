import { expect, test } from 'vitest';
import type { FakeReply } from '../../fakes/fake-provider.ts';
import { openModelTurns } from '../../fixtures/model-turns.ts';
import { ANTHROPIC, OPENAI } from '../../fixtures/providers.ts';

/** About 9 KB of output, so 2,300 tokens of the fake's. */
function lines(id: string, name: string): FakeReply {
  return { calls: [{ id, arguments: { command: `echo ${name} >> ../run-log; seq 1 1900; echo end of ${name}` } }] };
}

function messagesOf(body: Record<string, unknown> | undefined): string {
  return JSON.stringify(body?.['messages']);
}

test('a conversation that its provider refuses as too long is summarised once, and the turn is answered', async () => {
  const { provider, model } = await ANTHROPIC.serve(
    [lines('t1', 'one'), { text: 'That was one.' }, lines('t2', 'two'), { text: 'One and two were made.' }],
    { tokensMax: 3000 },
  );
  const turns = await openModelTurns(model);
  expect(await turns.run('make one')).toMatchObject({ state: 'completed', steps: 2 });
  const run = await turns.start('now make two');
  expect(await run.result()).toMatchObject({ state: 'completed', steps: 2, calls: 1 });
  // Refused, a summary of both commands, and the step with it: its text is the fake's "done".
  const [refused, summary, step] = provider.bodies.slice(3).map(messagesOf);
  expect(refused).toContain('end of one');
  expect(summary).toMatch(/end of one(.|\n)*end of two/);
  expect(step).toContain('One and two were made.');
  expect(step).toContain('now make two');
  expect(step).not.toContain('end of');
  expect(provider.bodies).toHaveLength(6);
  expect(provider.bodies[4]).not.toHaveProperty('tools');
  // Watchers are told, and what is hidden from the model is not hidden from people.
  const events = await turns.store.readEvents({ chatId: turns.chatId, after: 0, limit: 1000 });
  expect(events.filter(({ type }) => type === 'compaction')).toHaveLength(1);
  expect(events.filter((event) => event.type === 'message' && event.role === 'summary')).toHaveLength(1);
  expect(events.some(({ type }) => type === 'withdrawn')).toBe(false);
  expect(turns.readRunLog()).toEqual(['one', 'two']);
  expect(await turns.run('and?')).toMatchObject({ state: 'completed', steps: 1 });
});

test('a conversation that is still too long with a summary ends its turn with the reason, after one try', async () => {
  const { provider, model } = await OPENAI.serve([lines('t1', 'one'), { text: 'Made.' }, { text: 'One was made.' }], {
    tokensMax: 3000,
  });
  const turns = await openModelTurns(model);
  await turns.run('make one');
  const result = await turns.run('x '.repeat(8000));
  expect(result).toMatchObject({ state: 'failed', error: { code: 'model_context_too_long' } });
  expect(result.error!.message).toMatch(
    /^the conversation is too long for its model; also with a summary in the place of its older part, .*prompt is too long.* Edit the message that is too long/,
  );
  expect(provider.bodies).toHaveLength(2 + 3);
  expect((await turns.store.findChat(turns.chatId))?.lastError).toMatchObject({ code: 'model_context_too_long' });
  // Nothing is left that could be summarised: no further request is made of it.
  expect((await turns.run('again')).error?.message).toMatch(
    /; nothing of it can be left out\. Edit the message that is too long/,
  );
  expect(provider.bodies).toHaveLength(6);
});

test('where a share of the window is used the next turn begins with a summary, which an interrupt ends', async () => {
  const { provider, model } = await OPENAI.serve([
    { text: 'A long answer. '.repeat(200) },
    'silence',
    { text: 'In short.' },
    { text: 'Fine.' },
  ]);
  // The fake counts 47 tokens for each step.
  const turns = await openModelTurns(model, { contextWindow: { tokens: 58, compactAtShare: 0.8 } });
  const view = async () => (await turns.store.loadConversation(turns.chatId)).map(({ role }) => role);
  expect(await turns.run('go')).toMatchObject({ state: 'completed' });
  const interrupted = await turns.start('and now?');
  await turns.until('a summary was asked for', () => provider.bodies.length === 2);
  await interrupted.interrupt();
  expect(await interrupted.result()).toMatchObject({ state: 'interrupted', steps: 0 });
  expect(await view()).toEqual(['user', 'assistant', 'user']);
  expect(await turns.run('go on')).toMatchObject({ state: 'completed', steps: 1 });
  expect(await view()).toEqual(['summary', 'user', 'user', 'assistant']);
  const last = messagesOf(provider.bodies.at(-1));
  expect(last).toMatch(/In short\.(.|\n)*and now\?(.|\n)*go on/);
  expect(last).not.toContain('A long answer');
  expect(provider.bodies).toHaveLength(4);
});
