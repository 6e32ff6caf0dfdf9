import { expect, test } from 'vitest';
import { callsTable } from '../../../client/calls/calls-table.ts';
import { collectCalls } from '../../../client/calls/collect-calls.ts';
import { AGENT, beginTestStep, CHAT, draftCall, openStoreWithTurn } from '../store/chat-fixture.ts';

test('without a server the open calls of the store are listed, of whatever chat, each once', async () => {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.commitStep(attempt, { text: '', calls: [draftCall('a')], agentId: AGENT });
  const ofNone = await collectCalls({ store, filter: {}, endedTurnsMax: 0 });
  expect(ofNone.calls).toMatchObject([{ chatId: CHAT, key: '2-a', isOpen: true }]);
  const ofLatest = await collectCalls({ store, filter: {}, endedTurnsMax: 0, fallback: { chatId: CHAT } });
  expect(ofLatest.calls).toHaveLength(1);
});

test('a table of no calls says of what there are none, and each note', () => {
  expect(callsTable({ calls: [], notes: ['no server answers'] }, 'no call is known to be stuck')).toBe(
    'no call is known to be stuck\n! no server answers',
  );
});
