import { expect, test } from 'vitest';
import { AGENT, CHAT, beginTestStep, draftCall, openStoreWithTurn } from './chat-fixture.ts';

test('a turn that has ended is told by its end and its counts, one that runs or is not known is not', async () => {
  const store = await openStoreWithTurn();
  const turn = { chatId: CHAT, turn: 1 };
  const calls = [draftCall('a'), draftCall('b')];
  await store.commitStep(await beginTestStep(store), { text: '', calls, agentId: AGENT });
  await beginTestStep(store, { step: 2, messageId: 3 });
  expect(await store.findEndedTurn(turn)).toBeUndefined();
  expect(await store.findEndedTurn({ ...turn, turn: 7 })).toBeUndefined();
  await store.closeStep({ ...turn, step: 1 });
  expect(await store.endTurn({ ...turn, state: 'interrupted' })).toEqual({ state: 'interrupted' });
  // The first end stands, and whoever comes later is told so (G10: no notice for it).
  expect(await store.endTurn({ ...turn, state: 'failed' })).toEqual({ state: 'interrupted' });
  const title = 'hello';
  const endedAt = expect.stringMatching(/^20/);
  expect(await store.findEndedTurn(turn)).toEqual({ state: 'interrupted', steps: 1, calls: 2, endedAt, title });
});
