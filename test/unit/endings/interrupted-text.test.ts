import { expect, test } from 'vitest';
import { beginTestStep, CHAT, eventTypes, openStoreWithTurn } from '../store/chat-fixture.ts';

const STEP = { chatId: CHAT, turn: 1, step: 1 };

test('what the model had written when the turn was interrupted stays as its message', async () => {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.writePart(attempt, 'I was about ');
  await store.writePart(attempt, 'to say');
  expect(await store.closeStep({ ...STEP, keepsText: true })).toEqual({ openCalls: [], messageId: 2 });
  expect((await store.loadConversation(CHAT)).at(-1)).toMatchObject({ role: 'assistant', text: 'I was about to say' });
  const types = await eventTypes(store);
  expect(types.at(-1)).toBe('message');
  expect(types).not.toContain('part');
});

test('a late attempt writes nothing behind it', async () => {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.writePart(attempt, 'partial');
  await store.closeStep({ ...STEP, keepsText: true });
  await expect(store.writePart(attempt, ' more')).rejects.toMatchObject({ code: 'too_busy' });
});

test.each(['', ' \n'])('nothing (%j) leaves no message', async (text) => {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  if (text !== '') await store.writePart(attempt, text);
  expect(await store.closeStep({ ...STEP, keepsText: true })).toEqual({ openCalls: [] });
  expect((await store.loadConversation(CHAT)).map(({ role }) => role)).toEqual(['user']);
});

test('a step that fails for another reason takes its text back', async () => {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.writePart(attempt, 'partial');
  await store.closeStep(STEP);
  expect((await eventTypes(store)).at(-1)).toBe('withdrawn');
});
