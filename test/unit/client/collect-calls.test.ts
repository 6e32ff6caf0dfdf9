import { expect, test } from 'vitest';
import { callsTable } from '../../../client/calls/calls-table.ts';
import { collectCalls } from '../../../client/calls/collect-calls.ts';
import type { ExecutionKey } from '../../../contract/ids.ts';
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

test('a table shows a key, a reason and a note without control characters: a model chose the key', () => {
  const evil = '\u001b]0;title\u0007\u009b2J\r\u001b[31m';
  const key = `2-a${evil}` as ExecutionKey;
  const stuck = { code: 'paused' as const, text: `paused${evil}` };
  const line = { chatId: CHAT, turn: 1, key, summary: '$ make', agentId: AGENT, isOpen: true, stuck };
  const table = callsTable({ calls: [{ ...line, status: 'running' }], notes: [`a note${evil}`] });
  expect(table.match(/[^\P{Cc}\n]/u)).toBeNull();
  expect(table).toMatch(/^2-a .*\n! 2-a.*: paused.*\n! a note/m);
});

test('a table of no calls says of what there are none, and each note', () => {
  expect(callsTable({ calls: [], notes: ['no server answers'] }, 'no call is known to be stuck')).toBe(
    'no call is known to be stuck\n! no server answers',
  );
});
