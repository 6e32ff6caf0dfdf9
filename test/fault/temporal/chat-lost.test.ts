import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('T1, T2: a chat whose workflow is terminated goes on from its rows: it joins the turn that runs, and a sweep wakes what would wait for ever', async () => {
  const whole = await Whole.open({ turnEnv: { LATCHKEY_SWEEP_SECONDS: '2' } });
  const { folder } = whole;
  const held = (name: string) => `until [ -e '${join(folder.root, name)}' ]; do sleep 0.1; done`;
  const chat = await WholeChat.open(whole, {
    stepsByText: {
      one: [commands({ first: logged(folder, 'first', held('go-1')) }), DONE],
      two: [commands({ second: logged(folder, 'second', held('go-2')) }), DONE],
      five: [commands({ third: logged(folder, 'third', 'sleep 300') }), DONE],
    },
  });
  await chat.send('one');
  await chat.running('first', 1);
  await chat.send('two');
  await chat.handle.terminate('by a person');
  writeFileSync(join(folder.root, 'go-1'), '');
  // Nobody asks anything of the chat: the sweep does.
  await chat.running('second', 2);

  await chat.handle.terminate('by a person');
  expect(await chat.send('three')).toEqual({ isNew: true, waiting: 1 });
  expect(await chat.send('four', { mode: 'interrupt' })).toEqual({ isNew: true, waiting: 2 });
  await chat.idle(4);
  expect(await chat.asked()).toEqual(['one', 'two', 'four', 'three']);
  expect(await whole.store.findTurn({ chatId: chat.chatId, turn: 2 })).toMatchObject({ state: 'interrupted' });
  expect([countRuns(folder, 'first'), countRuns(folder, 'second')]).toEqual([1, 1]);

  // A turn that is terminated is closed by the sweep, and the chat goes on after it.
  await chat.send('five');
  await chat.running('third', 5);
  await chat.send('six');
  await chat.turnHandle(5).terminate('by a person');
  await chat.idle(6);
  expect(await whole.store.findTurn({ chatId: chat.chatId, turn: 5 })).toMatchObject({ error: { code: 'turn_lost' } });
  expect((await chat.said()).slice(-2)).toEqual(['user: six', 'assistant: Done.']);
  expect(countRuns(folder, 'third')).toBe(1);
});

test('T2, T3: a chat moves to new runs, between turns and while one runs, and loses no message', async () => {
  const whole = await Whole.open();
  const go = join(whole.folder.root, 'go');
  const chat = await WholeChat.open(
    whole,
    { stepsByText: { m2: [{ text: 'Held.', holdUntilFile: go }] } },
    { turns: { updatesMax: 2 } },
  );
  const runs = new Set<string>();
  const texts = Array.from({ length: 12 }, (_, index) => `m${index + 1}`);
  for (const text of texts) {
    await chat.send(text);
    runs.add((await chat.handle.describe()).runId);
    if (text === 'm2') await chat.until('m2 is being answered', async () => (await chat.asked()).includes('m2'));
  }
  // Of 10 sends while m2's turn runs, each third moves the chat, which then watches that turn.
  expect(runs.size).toBeGreaterThan(2);
  expect(await chat.chats.view(chat.chatId)).toMatchObject({ state: 'running', turn: 2, queue: texts.slice(2) });
  writeFileSync(go, '');
  await chat.idle(12);
  const said = texts.flatMap((text) => [`user: ${text}`, text === 'm2' ? 'assistant: Held.' : 'assistant: Done.']);
  expect(await chat.said()).toEqual(said);
});
