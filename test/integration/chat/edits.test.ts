import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** Tool-call ids of the processes that the chat still has at the agent. */
async function alive(chat: WholeChat): Promise<string[]> {
  const target = await chat.whole.agent.target();
  const { processes } = await chat.whole.agent.client.list({ target, chatId: chat.chatId, onlyOpen: true });
  return processes.map(({ key }) => key.slice(key.indexOf('-') + 1)).toSorted();
}

test('G06: an edit stops what the hidden messages run, background too, spares what ran before them, and the same call of the new answer runs anew', async () => {
  const whole = await Whole.open();
  const { folder } = whole;
  const serve = (name: string) => ({ command: logged(folder, name, 'sleep 300'), background: true });
  const chat = await WholeChat.open(
    whole,
    {
      stepsByText: {
        before: [commands({ kept: serve('kept') }), DONE],
        wrong: [commands({ server: serve('server'), same: logged(folder, 'same', 'sleep 300') }), DONE],
        right: [commands({ same: logged(folder, 'same', 'echo anew') }), DONE],
      },
    },
    { turns: { timings: { interruptGraceMs: 3000, describeAgentMs: 1000 } } },
  );
  await chat.send('before');
  await chat.send('wrong');
  const wrong = await chat.running('same', 2);
  await chat.send('waits');
  expect(await alive(chat)).toEqual(['kept', 'same', 'server']);
  const messageId = await chat.messageId('wrong');

  const server = await chat.call('server');
  const edit = { messageId, clientMessageId: 'right', text: 'right' };
  expect(await chat.edit(edit)).toEqual({ isNew: true, epoch: 1, stopping: [server.key] });
  await chat.idle(4);
  expect(await chat.asked()).toEqual(['before', 'right', 'waits']);
  expect(await alive(chat)).toEqual(['kept']);
  expect((await whole.store.findCall({ chatId: chat.chatId, key: server.key }))?.status).toMatch(/canceled|exited/);
  const anew = await chat.call('same');
  expect(anew).toMatchObject({ status: 'exited', result: { text: expect.stringContaining('anew') } });
  expect(anew.key).not.toBe(wrong.key);
  expect([countRuns(folder, 'kept'), countRuns(folder, 'server'), countRuns(folder, 'same')]).toEqual([1, 1, 2]);
  // Sent again it is the same edit, and stops nothing more.
  expect(await chat.edit(edit)).toMatchObject({ isNew: false, epoch: 1 });
  expect(await chat.asked()).toEqual(['before', 'right', 'waits']);

  // The agent is away: the edit doesn't wait for it, and what it has hidden is stopped when it is back.
  await whole.agent.kill();
  const kept = await chat.call('kept');
  const first = { messageId: await chat.messageId('before'), clientMessageId: 'first', text: 'first' };
  expect(await chat.edit(first)).toEqual({ isNew: true, epoch: 2, stopping: [kept.key] });
  await chat.idle(5);
  expect(await chat.said()).toEqual(['user: first', 'assistant: Done.']);
  await whole.startAgent();
  await chat.until('the settle has stopped the hidden call', async () => {
    const call = await whole.store.findCall({ chatId: chat.chatId, key: kept.key });
    return call?.status !== 'detached' && (await alive(chat)).length === 0;
  });
  expect(await chat.said()).toEqual(['user: first', 'assistant: Done.']);
});

test('G10: the last error of a chat is stored, shown to whoever reads it later, and cleared when a message is answered', async () => {
  const whole = await Whole.open();
  const chat = await WholeChat.open(whole, { stepsByText: { bad: [commands({ once: 'true' })] } });
  await chat.send('bad');
  await chat.idle(1);
  await whole.reopenStore();
  expect(await whole.store.findChat(chat.chatId)).toMatchObject({
    title: 'bad',
    lastError: { code: 'model_refused', message: expect.stringContaining('no step 2') },
  });
  await chat.send('good');
  await chat.idle(2);
  expect(await whole.store.findChat(chat.chatId)).not.toHaveProperty('lastError');
  expect((await chat.said()).at(-1)).toBe('assistant: Done.');
});
