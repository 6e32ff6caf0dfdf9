import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('C6: one call of a running turn is canceled by its key; the others and the turn go on, and each command ran once', async () => {
  const whole = await Whole.open();
  const { folder } = whole;
  const gate = `${folder.root}/gate`;
  const chat = await WholeChat.open(whole, {
    steps: [
      commands({
        stuck: logged(folder, 'stuck', 'echo so far; sleep 300'),
        other: logged(folder, 'other', `until [ -e ${gate} ]; do sleep 0.1; done; echo whole`),
      }),
      DONE,
    ],
  });
  await chat.send('both');
  const stuck = await chat.running('stuck', 1);
  await chat.running('other', 1);

  const answer = await chat.chats.cancelCall(chat.chatId, { key: stuck.key, who: 'a test' });
  expect(answer).toMatchObject({ hasEnded: true, status: 'canceled' });
  await chat.until('the call has its result', async () => (await chat.call('stuck')).result !== undefined);
  expect(await chat.call('stuck')).toMatchObject({
    status: 'canceled',
    evidence: { code: 'killed' },
    result: { text: expect.stringMatching(/^so far\n/) },
  });
  // Its turn was neither stopped nor told to stop.
  expect((await chat.call('other')).result).toBeUndefined();
  writeFileSync(gate, '');
  await chat.idle(1);
  expect(await chat.call('other')).toMatchObject({ status: 'exited', exitCode: 0 });
  expect(await whole.store.findTurn({ chatId: chat.chatId, turn: 1 })).toMatchObject({ state: 'completed' });
  expect([countRuns(folder, 'stuck'), countRuns(folder, 'other')]).toEqual([1, 1]);

  expect(await chat.chats.cancelCall(chat.chatId, { key: stuck.key })).toMatchObject({
    hasEnded: true,
    status: 'canceled',
    message: expect.stringContaining('nothing was changed'),
  });
});

test('C3, C6: a command in the background is canceled after its turn, its row says so, and a note is left for the model', async () => {
  const whole = await Whole.open();
  const { folder } = whole;
  const chat = await WholeChat.open(
    whole,
    {
      stepsByText: {
        serve: [
          commands({ server: { command: logged(folder, 'server', 'echo it listens; sleep 300'), background: true } }),
          DONE,
        ],
      },
    },
    { turns: { timings: { interruptGraceMs: 3000, describeAgentMs: 1000 } } },
  );
  await chat.send('serve');
  await chat.idle(1);
  const { key } = await chat.call('server');
  expect(await chat.call('server')).toMatchObject({ status: 'detached' });
  await chat.until('its output is told by its agent', async () =>
    (await chat.chats.output(chat.chatId, { key })).text.includes('it listens'),
  );
  expect(await chat.chats.output(chat.chatId, { key, fromByte: 3 })).toMatchObject({
    text: expect.stringMatching(/^listens/),
    detail: expect.stringContaining('running'),
  });

  // Nobody can say that it has ended while its agent is away, so nobody does; asked again it is stopped.
  await whole.agent.kill();
  expect(await chat.chats.cancelCall(chat.chatId, { key })).toMatchObject({
    hasEnded: false,
    status: 'running',
    message: expect.stringMatching(/did not say.*ask again/),
  });
  expect(await chat.call('server')).toMatchObject({ status: 'detached' });
  await expect(chat.chats.output(chat.chatId, { key })).rejects.toMatchObject({ code: 'agent_unreachable' });
  await whole.startAgent();
  expect(await chat.chats.cancelCall(chat.chatId, { key })).toMatchObject({ hasEnded: true, status: 'canceled' });
  expect(await chat.call('server')).toMatchObject({ status: 'canceled', evidence: { code: 'killed' } });
  expect(countRuns(folder, 'server')).toBe(1);
  const events = await whole.store.readEvents({ chatId: chat.chatId, after: 0, limit: 1000 });
  expect(events.filter(({ type }) => type === 'note')).toMatchObject([{ key }]);
});

test('C6: what has no command to stop is refused in words, and nothing is changed', async () => {
  const whole = await Whole.open();
  const chat = await WholeChat.open(whole, {
    steps: [{ text: 'I look.', calls: [{ id: 'list', name: 'process_list', arguments: {} }] }, DONE],
  });
  await chat.send('look');
  await chat.idle(1);
  const cancel = (key: string) => chat.chats.cancelCall(chat.chatId, { key: parseExecutionKey(key) });
  await expect(cancel('2-none')).rejects.toMatchObject({
    code: 'unknown_process',
    message: expect.stringContaining(`chat ${chat.chatId} has no call 2-none`),
  });
  const { key, status } = await chat.call('list');
  for (const [asked, message] of [
    ['2-none', 'has no call 2-none'],
    [key, 'had no process'],
  ] as const) {
    await expect(chat.chats.output(chat.chatId, { key: parseExecutionKey(asked) })).rejects.toMatchObject({
      code: 'unknown_process',
      message: expect.stringContaining(message),
    });
  }
  expect(await cancel(key)).toMatchObject({ hasEnded: true, status });
  await expect(chat.chats.cancelCall(chat.chatId, { key: 'junk' as never })).rejects.toMatchObject({
    code: 'bad_request',
  });
});
