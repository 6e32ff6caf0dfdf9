/**
 * The danger: what a chat waits for comes together, in one workflow task: a request and the end of the turn that it is about
 * (workflows/all-heard.ts), two ends that are both to be stored (workflows/one-by-one.ts).
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { chatWorkflowId } from '../../../contract/names.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';
import { replayAll } from '../../replay/replay.ts';

test('C6: an interrupt that comes together with its turn’s end stops nothing, and the history replays', async () => {
  const whole = await Whole.open();
  const go = join(whole.folder.root, 'go');
  const chat = await WholeChat.open(whole, {
    steps: [commands({ held: `until [ -e '${go}' ]; do sleep 0.1; done` }), DONE],
  });
  await chat.send('m1');
  await chat.running('held', 1);
  // The chat's next task is kept for the dead worker for a second; meanwhile another one brings the turn to its end.
  await whole.worker('turn-worker').kill();
  await whole.startTurnWorker();
  writeFileSync(go, '');
  await chat.until('turn 1 has ended', async () => {
    const turn = await whole.store.findTurn({ chatId: chat.chatId, turn: 1 });
    return turn?.state === 'completed';
  });
  await chat.until(
    'its workflow has ended',
    async () => (await chat.turnHandle(1).describe()).status.name !== 'RUNNING',
  );
  const answer = await chat.chats.interrupt(chat.chatId);
  await chat.idle(1);

  await cameTogether(chat, 'workflowExecutionUpdateAcceptedEventAttributes');
  expect(answer).toEqual({});
});

test('C3, C6: a kill whose truth is stored while the next turn is claimed has its answer, and the history replays', async () => {
  const whole = await Whole.open();
  const go = join(whole.folder.root, 'go');
  const chat = await WholeChat.open(
    whole,
    {
      stepsByText: {
        m1: [commands({ server: { command: 'sleep 300', background: true } }), DONE],
        m2: [commands({ held: `until [ -e '${go}' ]; do sleep 0.1; done` }), DONE],
      },
    },
    { turns: { timings: { interruptGraceMs: 30_000 } } },
  );
  await chat.send('m1');
  await chat.idle(1);
  await chat.send('m2');
  await chat.running('held', 2);
  await chat.send('m3');
  const mayKill = Promise.withResolvers<void>();
  whole.proxy.onRequest = ({ verb }) => (verb === 'cancel' ? mayKill.promise : undefined);
  const { key } = await chat.call('server');
  const killed = chat.chats.cancelCall(chat.chatId, { key });
  await chat.until('the agent is asked', () => whole.proxy.of('cancel', key).length > 0);
  await whole.worker('turn-worker').kill();
  await whole.startTurnWorker();
  writeFileSync(go, '');
  await chat.until('turn 2 has ended', async () => (await chat.turnHandle(2).describe()).status.name !== 'RUNNING');
  mayKill.resolve();
  expect(await killed).toMatchObject({ hasEnded: true, status: 'canceled' });
  await chat.idle(3);
  await cameTogether(chat, 'activityTaskCompletedEventAttributes');
  expect(await chat.asked()).toEqual(['m1', 'm2', 'm3']);
});

/** The last of these events and the end of a turn before it, with no workflow task between them; and the history replays. */
async function cameTogether(
  chat: WholeChat,
  what: 'workflowExecutionUpdateAcceptedEventAttributes' | 'activityTaskCompletedEventAttributes',
): Promise<void> {
  const history = await chat.handle.fetchHistory();
  const events = history.events ?? [];
  const other = events.findLastIndex((event) => event[what]);
  const before = events.slice(0, other);
  const end = before.findLastIndex((event) => event.childWorkflowExecutionCompletedEventAttributes);
  const tasks = before.slice(end).filter((event) => event.workflowTaskCompletedEventAttributes);
  // An update's acceptance is recorded after the task that it came with.
  const isAccepted = what === 'workflowExecutionUpdateAcceptedEventAttributes';
  expect(tasks, 'they came in one task').toHaveLength(isAccepted ? 1 : 0);
  const asked = [{ workflowId: chatWorkflowId(chat.chatId), history }];
  expect(await replayAll({ codePath: inject('workflowBundlePath') }, asked)).toEqual([undefined]);
}
