import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ExecutionKey } from '../../../contract/ids.ts';
import type { Store } from '../../../store/store.ts';
import {
  AGENT,
  beginTestStep,
  CHAT,
  draftCall,
  exitOutcome,
  makeTemporaryFolder,
  openTestStore,
} from '../store/chat-fixture.ts';

/** A store, and the same as it was before `later` happened. */
async function rollBack(before: (store: Store) => Promise<void>, later: (store: Store) => Promise<void>) {
  const folder = await makeTemporaryFolder();
  const live = join(folder, 'live');
  mkdirSync(live);
  const store = await openTestStore(join(live, 'store.sqlite'));
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  await before(store);
  cpSync(live, join(folder, 'backup'), { recursive: true });
  await later(store);
  return openTestStore(join(folder, 'backup', 'store.sqlite'));
}

async function takeFirstTurn(store: Store): Promise<void> {
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm1', text: 'hello' });
  await store.takeTurn({ chatId: CHAT, turn: await store.reserveNextTurn(CHAT), agentId: AGENT });
}

async function commitFirstStep(store: Store): Promise<void> {
  const attempt = await beginTestStep(store);
  await store.commitStep(attempt, { text: '', calls: [draftCall('a')], agentId: AGENT });
  await store.recordResult({ chatId: CHAT, turn: 1, key: '2-a' as ExecutionKey, outcome: exitOutcome(0) });
}

test('I02 part: a store that forgot the turn says so to its next step, and not that the turn has ended', async () => {
  const old = await rollBack(async () => undefined, takeFirstTurn);
  await expect(beginTestStep(old)).rejects.toMatchObject({ code: 'store_rolled_back' });
});

test('I02 part: a store that forgot a step says so to the one after it', async () => {
  const old = await rollBack(takeFirstTurn, commitFirstStep);
  await expect(beginTestStep(old, { step: 2, messageId: 3 })).rejects.toMatchObject({ code: 'store_rolled_back' });
});

test('I02 part: a store that forgot a call says so to its result', async () => {
  const old = await rollBack(takeFirstTurn, commitFirstStep);
  const result = { chatId: CHAT, turn: 1, key: '2-a' as ExecutionKey, outcome: exitOutcome(0) };
  await expect(old.recordResult(result)).rejects.toMatchObject({ code: 'store_rolled_back' });
});

test('I02 part: the end of the turn tells it which ids are taken, so the next turn has fresh ones', async () => {
  const old = await rollBack(async () => undefined, takeFirstTurn);
  const error = { code: 'store_rolled_back', message: 'it is older' };
  await old.endTurn({ chatId: CHAT, turn: 1, state: 'failed', error, highestMessageId: 7 });
  await old.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'again' });
  const turn = await old.reserveNextTurn(CHAT);
  expect(turn).toBe(2);
  expect(await old.takeTurn({ chatId: CHAT, turn, agentId: AGENT })).toEqual({ highestMessageId: 8 });
});
