import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAgentId, parseChatId } from '../../../contract/ids.ts';
import { QUEUED_MESSAGES_MAX } from '../../../contract/limits.ts';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

const LONG = 'sleep 300';

describe('R26: stopped in the middle of a command, a chat keeps what waits and answers it in order, and runs nothing again', () => {
  test('G07: queued messages survive an interrupt and the death of the worker, and are answered once, in order', async () => {
    const whole = await Whole.open();
    const { folder } = whole;
    const chat = await WholeChat.open(whole, {
      stepsByText: {
        m1: [commands({ first: logged(folder, 'first', `echo begun; ${LONG}`) }), DONE],
        m2: [commands({ second: logged(folder, 'second', LONG) }), DONE],
      },
    });
    expect(await chat.send('m1')).toEqual({ isNew: true, turn: 1, waiting: 0 });
    await chat.running('first', 1);
    expect(await chat.send('m2')).toEqual({ isNew: true, waiting: 1 });
    expect(await chat.send('m3')).toEqual({ isNew: true, waiting: 2 });
    expect(await chat.send('m2', { text: 'another text' })).toEqual({ isNew: false, waiting: 2 });
    expect(await chat.chats.view(chat.chatId)).toMatchObject({ state: 'running', turn: 1, queue: ['m2', 'm3'] });

    expect(await chat.chats.interrupt(chat.chatId, { turn: 7 })).toEqual({});
    expect(await chat.chats.interrupt(chat.chatId)).toEqual({ turn: 1 });
    await chat.running('second', 2);
    const first = await chat.call('first');
    expect(first).toMatchObject({ status: 'canceled', result: { text: expect.stringContaining('begun') } });

    await whole.worker('turn-worker').kill();
    // With nobody there the message is accepted as soon as somebody is.
    const sent = chat.send('m4');
    await whole.startTurnWorker();
    expect(await sent).toMatchObject({ isNew: true, waiting: 2 });
    await chat.chats.interrupt(chat.chatId);
    await chat.idle(4);
    expect(await chat.asked()).toEqual(['m1', 'm2', 'm3', 'm4']);
    expect((await chat.said()).slice(-4)).toEqual(['user: m3', 'assistant: Done.', 'user: m4', 'assistant: Done.']);
    expect([countRuns(folder, 'first'), countRuns(folder, 'second')]).toEqual([1, 1]);
    const states = await Promise.all([1, 2, 3, 4].map((turn) => whole.store.findTurn({ chatId: chat.chatId, turn })));
    expect(states.map((turn) => turn?.state)).toEqual(['interrupted', 'interrupted', 'completed', 'completed']);
  });
});

describe('R8: a provider that uses the id of a call again, in another turn or step, gets two calls, each run once', () => {
  test('T2: a message that interrupts is answered next, before what waits', async () => {
    const whole = await Whole.open();
    const { folder } = whole;
    const id = 'run_shell:0';
    const chat = await WholeChat.open(whole, {
      stepsByText: {
        one: [commands({ [id]: logged(folder, 'one') }), DONE],
        two: [commands({ [id]: logged(folder, 'two') }), commands({ [id]: logged(folder, 'three') }), DONE],
        long: [commands({ long: LONG }), DONE],
      },
    });
    await chat.send('one');
    await chat.send('two');
    await chat.idle(2);
    expect(['one', 'two', 'three'].map((name) => countRuns(folder, name))).toEqual([1, 1, 1]);
    const calls = await whole.store.listCalls({ chatId: chat.chatId });
    expect(calls.map(({ toolCallId, status }) => [toolCallId, status])).toEqual([1, 2, 3].map(() => [id, 'exited']));
    expect(new Set(calls.map(({ key }) => key)).size).toBe(3);

    await chat.send('long');
    await chat.running('long', 3);
    await chat.send('later');
    expect(await chat.send('now', { mode: 'interrupt' })).toMatchObject({ isNew: true, waiting: 2 });
    await chat.idle(5);
    expect(await chat.asked()).toEqual(['one', 'two', 'long', 'now', 'later']);
    // Asked again, it interrupts nothing.
    expect(await chat.send('now', { mode: 'interrupt' })).toEqual({ isNew: false, turn: 4, waiting: 0 });
  });
});

describe('R5: interrupted in the middle of its calls, a message leaves each call one result, and the next is answered, by another client too', () => {
  test('G08: what a chat must refuse it refuses in words, and nothing has changed', async () => {
    const whole = await Whole.open();
    const gate = join(whole.folder.root, 'gate');
    const chat = await WholeChat.open(whole, {
      stepsByText: {
        three: [commands({ done: 'echo a', runs: `touch ${gate}; ${LONG}`, waits: LONG }), DONE],
      },
    });
    const { chats, chatId } = chat;
    const nobody = parseChatId('nobody');
    const refused = (code: string, message?: RegExp, field?: string) => ({
      code,
      ...(message === undefined ? {} : { message }),
      ...(field === undefined ? {} : { field }),
    });
    await expect(chats.interrupt(nobody)).rejects.toMatchObject(refused('unknown_chat', /no chat nobody/));
    await expect(chats.send(nobody, { clientMessageId: 'm', text: 'x' })).rejects.toMatchObject(
      refused('unknown_chat'),
    );
    await expect(chat.send('x', { text: '界'.repeat(90_000) })).rejects.toMatchObject(
      refused('body_too_large', /270000 bytes/),
    );
    await expect(chat.send('x', { mode: 'at once' as 'queue' })).rejects.toMatchObject(
      refused('bad_request', /mode/, 'mode'),
    );

    await chat.send('three');
    await chat.until('the second call runs', () => existsSync(gate));
    await expect(chats.archive(chatId, { isArchived: true })).rejects.toMatchObject(refused('chat_busy', /turn 1/));
    const waiting = Array.from({ length: QUEUED_MESSAGES_MAX }, (_, index) => `w${index}`);
    await Promise.all(waiting.map((id) => chat.send(id)));
    await expect(chat.send('full')).rejects.toMatchObject(refused('queue_full', /20 messages wait/));
    for (const clientMessageId of waiting.slice(2)) await chats.deleteQueued(chatId, { clientMessageId });
    const { queue } = await chats.promoteQueued(chatId, { clientMessageId: 'w1' });
    expect(queue).toEqual(['w1', 'w0']);
    await expect(chats.deleteQueued(chatId, { clientMessageId: 'three' })).rejects.toMatchObject(
      refused('unknown_message', /turn 1 has taken it/, 'clientMessageId'),
    );
    await expect(chat.edit({ messageId: 99 as never, clientMessageId: 'e', text: 'x' })).rejects.toMatchObject(
      refused('unknown_message', /message 99/, 'messageId'),
    );
    // The refused edit has stopped nothing.
    expect(await chats.view(chatId)).toMatchObject({ state: 'running', turn: 1 });

    const other = await WholeChat.open(whole, {}, { chatId });
    await other.chats.interrupt(chatId);
    await chat.idle(3);
    const calls = await whole.store.listCalls({ chatId, turn: 1 });
    expect(calls.map(({ toolCallId, status }) => [toolCallId, status])).toEqual([
      ['done', 'exited'],
      ['runs', 'canceled'],
      ['waits', 'canceled'],
    ]);
    // The strict model has taken each of these conversations.
    expect((await chat.said()).slice(2)).toEqual(['user: w1', 'assistant: Done.', 'user: w0', 'assistant: Done.']);

    expect(await chats.archive(chatId, { isArchived: true })).toEqual({ isArchived: true });
    await chat.until(
      'its workflow has completed',
      async () => (await chat.handle.describe()).status.name === 'COMPLETED',
    );
    await expect(chat.send('late')).rejects.toMatchObject(refused('chat_archived', /archived/));
    await chats.archive(chatId, { isArchived: false });
    expect(await chats.bind(chatId, { agentId: parseAgentId('another') })).toMatchObject({ agentId: 'another' });
    expect(await chats.view(chatId)).toMatchObject({ state: 'idle', agentId: 'another', queue: [] });
  });
});
