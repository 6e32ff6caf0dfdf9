/** The danger: a chat whose task has failed several times, to which the server lets nobody speak for the time being. */
import { expect, test } from 'vitest';
import { isNotReady } from '../../../client/when-ready.ts';
import { CHAT_LOOK_SIGNAL, CHAT_QUERY } from '../../../contract/names.ts';
import { writeChangedBundle } from '../../fixtures/changed-bundle.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';
import { Whole } from '../../fixtures/whole-turn.ts';

/** From here on the server refuses updates and queries (1.29.1). */
const REFUSED_FROM_ATTEMPT = 3;

test('R26: a message to and a look at a chat whose task fails again and again wait until it gets on', async () => {
  const whole = await Whole.open();
  const chat = await WholeChat.open(whole);
  await chat.send('m1');
  await chat.idle(1);
  await whole.worker('turn-worker').kill();
  const change = { from: "'all-is-heard-first'", to: "(() => { throw new Error('broken') })()" };
  const bundle = writeChangedBundle(whole.folder.root, change);
  const broken = await whole.startTurnWorker({ LATCHKEY_WORKFLOW_BUNDLE: bundle });
  await chat.handle.signal(CHAT_LOOK_SIGNAL);
  await chat.until('its task has failed several times', async () => {
    const { raw } = await chat.handle.describe();
    return (raw.pendingWorkflowTask?.attempt ?? 0) >= REFUSED_FROM_ATTEMPT;
  });
  // The server's own words, without the client's patience.
  await expect(chat.handle.query(CHAT_QUERY)).rejects.toSatisfy(isNotReady);
  const asked = Promise.all([chat.send('m2'), chat.chats.view(chat.chatId)]);
  await broken.kill();
  await whole.startTurnWorker();
  const [sent, view] = await asked;
  expect(sent).toMatchObject({ isNew: true, turn: 2 });
  expect(view.agentId).toBe(chat.create.agentId);
  await chat.idle(2);
  expect(await chat.asked()).toEqual(['m1', 'm2']);
});
