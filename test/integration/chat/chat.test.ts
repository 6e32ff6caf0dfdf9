import { expect, test } from 'vitest';
import { DONE, Whole } from '../../fixtures/whole-turn.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';

test('T2: messages are answered one turn each, in the order in which they were accepted, and a duplicate counts once', async () => {
  const whole = await Whole.open();
  const chat = await WholeChat.open(whole, { steps: [DONE], delayMs: 20 });
  expect(await chat.send('one')).toEqual({ isNew: true, turn: 1, waiting: 0 });
  expect(await chat.send('two')).toMatchObject({ isNew: true });
  expect(await chat.send('one', { text: 'another text' })).toEqual({ isNew: false, turn: 1, waiting: 0 });
  expect(await chat.send('three')).toMatchObject({ isNew: true });
  await chat.idle(3);
  expect(await chat.said()).toEqual([
    'user: one',
    'assistant: Done.',
    'user: two',
    'assistant: Done.',
    'user: three',
    'assistant: Done.',
  ]);
});
