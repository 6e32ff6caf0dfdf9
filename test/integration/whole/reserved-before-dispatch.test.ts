import { expect, test } from 'vitest';
import type { StoredCall } from '../../../store/call-row.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('F10, K5: at the moment of the first dispatch the message and all its calls are stored, with their targets', async () => {
  const whole = await Whole.open();
  const { store, chatId, proxy } = whole;
  const seen: { texts: string[]; calls: readonly StoredCall[]; target: unknown }[] = [];
  proxy.onRequest = async ({ verb, body }) => {
    if (verb !== 'start') return;
    const texts = (await store.loadConversation(chatId)).map(({ text }) => text);
    seen.push({ texts, calls: await store.listCalls({ chatId }), target: body['target'] });
  };
  const step = commands({ a: 'echo a', b: 'echo b', c: 'echo c' });
  const turn = await whole.startTurn([step, DONE]);
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 3 });

  expect(seen).toHaveLength(3);
  const [first] = seen;
  expect(first?.texts).toEqual(['message 1', step.text]);
  expect(first?.calls.map(({ toolCallId, status }) => [toolCallId, status])).toEqual([
    ['a', 'reserved'],
    ['b', 'reserved'],
    ['c', 'reserved'],
  ]);
  for (const { target } of first?.calls ?? []) expect(target).toEqual(first?.target);
});
