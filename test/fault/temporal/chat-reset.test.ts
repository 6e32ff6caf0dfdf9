import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** So many of its points, evenly, and always the first and the last: each is a reset and a whole chat that settles again. */
function spread(eventIds: readonly number[], count: number): number[] {
  if (process.env['LATCHKEY_LONG'] === '1' || eventIds.length <= count) return [...eventIds];
  const step = (eventIds.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, index) => eventIds[Math.round(index * step)] ?? 0);
}

test('I05: reset to events of its history, a chat asks nothing again, runs nothing twice, and interrupts no turn that was not meant', async () => {
  const whole = await Whole.open();
  const { folder } = whole;
  const go = join(folder.root, 'go');
  const chat = await WholeChat.open(whole, {
    stepsByText: {
      one: [commands({ first: logged(folder, 'first', 'sleep 300') }), DONE],
      two: [commands({ second: logged(folder, 'second') }), DONE],
      held: [commands({ held: logged(folder, 'held', `until [ -e '${go}' ]; do sleep 0.1; done`) }), DONE],
    },
  });
  await chat.send('one');
  await chat.running('first', 1);
  await chat.send('two');
  await chat.send('gone');
  await chat.chats.deleteQueued(chat.chatId, { clientMessageId: 'gone' });
  await chat.chats.interrupt(chat.chatId, { turn: 1 });
  await chat.idle(2);
  await chat.send('wrong');
  await chat.idle(3);
  await chat.edit({ messageId: await chat.messageId('wrong'), clientMessageId: 'right', text: 'right' });
  await chat.idle(4);
  await chat.send('held');
  await chat.running('held', 5);
  await chat.send('last');
  const before = await chat.said();

  const operations = await TurnOperations.open({ chatId: chat.chatId });
  const { runId, eventIds } = await operations.resetPoints();
  expect(eventIds.length).toBeGreaterThan(8);
  for (const eventId of spread(eventIds, 6)) {
    await operations.reset(runId, eventId);
    await chat.until(`the chat has joined its turn after a reset to event ${eventId}`, async () => {
      const { state, turn, queue } = await chat.chats.view(chat.chatId);
      return state === 'running' && turn === 5 && queue.join() === 'last';
    });
    expect(await chat.said(), `after a reset to event ${eventId}`).toEqual(before);
  }
  writeFileSync(go, '');
  await chat.idle(6);
  expect(await chat.asked()).toEqual(['one', 'two', 'right', 'held', 'last']);
  expect(['first', 'second', 'held'].map((name) => countRuns(folder, name))).toEqual([1, 1, 1]);
  expect((await whole.store.findChat(chat.chatId))?.epoch).toBe(1);
});
