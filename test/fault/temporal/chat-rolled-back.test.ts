import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseChatId } from '../../../contract/ids.ts';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { copyStore, restoreStore } from '../../fixtures/store-backup.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('I02: a chat whose store went back in time passes over the turns that it has lost, says so once, and goes on with fresh ids', async () => {
  const whole = await Whole.open();
  const { folder } = whole;
  const [backup, empty] = [join(folder.root, 'backup.db'), join(folder.root, 'empty.db')];
  copyStore(whole, empty);
  const again = [commands({ same: logged(folder, 'same') }), DONE];
  const script = { stepsByText: { two: again, three: again, four: again } };
  const chat = await WholeChat.open(whole, script, { chatId: parseChatId(`${whole.chatId}-own`) });
  await chat.send('one');
  await chat.idle(1);
  copyStore(whole, backup);
  for (const text of ['two', 'three']) await chat.send(text);
  await chat.idle(3);
  const lost = await chat.call('same');
  await restoreStore(whole, backup);
  expect(await chat.asked()).toEqual(['one']);

  // Its message is in a turn that says what happened; numbers 2 and 3 are used up on the server.
  await chat.send('noticed');
  await chat.until('a turn has said so', async () => {
    const { lastError } = (await whole.store.findChat(chat.chatId)) ?? {};
    return lastError?.code === 'store_rolled_back';
  });
  await chat.send('four');
  await chat.idle(6);
  expect(await chat.asked()).toContain('four');
  const fresh = await chat.call('same');
  expect(fresh).toMatchObject({ status: 'exited' });
  expect(fresh.messageId).toBeGreaterThan(lost.messageId);
  expect(countRuns(folder, 'same')).toBe(3);
  expect(await whole.store.findChat(chat.chatId)).not.toHaveProperty('lastError');
  expect((await whole.store.findChat(chat.chatId))?.lastTurn).toBeGreaterThan(4);

  // From before the chat itself: whoever sends makes it anew.
  await restoreStore(whole, empty);
  expect(await whole.store.findChat(chat.chatId)).toBeUndefined();
  await chat.send('five');
  await chat.until(
    'the chat has noticed',
    async () => (await whole.store.findChat(chat.chatId))?.lastError?.code === 'store_rolled_back',
  );
  await chat.send('six');
  await chat.until('it goes on', async () => (await whole.store.findChat(chat.chatId))?.lastError === undefined);
  expect((await chat.said()).slice(-2)).toEqual(['user: six', 'assistant: Done.']);
});
