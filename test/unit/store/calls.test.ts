import { expect, test } from 'vitest';
import type { CallOutcome } from '../../../contract/calls.ts';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseAgentId } from '../../../contract/ids.ts';
import type { Handle } from '../../../contract/ids.ts';
import type { Store } from '../../../store/store.ts';
import { AGENT, CHAT, TARGET, beginTestStep, draftCall, exitOutcome, openStoreWithTurn } from './chat-fixture.ts';

const A = parseExecutionKey('2-a');
const B = parseExecutionKey('2-b');

async function storeWithTwoCalls(): Promise<Store> {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.commitStep(attempt, { text: '', calls: [draftCall('a'), draftCall('b')], agentId: AGENT });
  return store;
}

test('K5: a target is written into a row that has none, and what a row holds wins afterwards', async () => {
  const store = await storeWithTwoCalls();
  const record = (keys: (typeof A)[], sequence: number) =>
    store.recordTargets({ chatId: CHAT, keys, target: { ...TARGET, sequence } });
  expect(await record([A], 1)).toEqual({ targets: [{ ...TARGET, sequence: 1 }] });
  expect(await record([B, A], 2)).toEqual({
    targets: [
      { ...TARGET, sequence: 2 },
      { ...TARGET, sequence: 1 },
    ],
  });
  expect(await store.findCall({ chatId: CHAT, key: A })).toMatchObject({ target: { sequence: 1 } });
});

test('C3: a call that was resolved without a target gets none, so it is never dispatched', async () => {
  const store = await storeWithTwoCalls();
  await store.closeStep({ chatId: CHAT, turn: 1, step: 1 });
  await expect(store.recordTargets({ chatId: CHAT, keys: [A], target: TARGET })).rejects.toMatchObject({
    code: 'step_closed',
  });
});

test('a target of another agent, and a key that nobody has, are refused and nothing is written', async () => {
  const store = await storeWithTwoCalls();
  const foreign = { ...TARGET, agentId: parseAgentId('other') };
  await expect(store.recordTargets({ chatId: CHAT, keys: [A], target: foreign })).rejects.toMatchObject({
    field: 'target',
  });
  const keys = [A, parseExecutionKey('2-nobody')];
  await expect(store.recordTargets({ chatId: CHAT, keys, target: TARGET })).rejects.toMatchObject({ field: 'key' });
  expect(await store.findCall({ chatId: CHAT, key: A })).not.toHaveProperty('target');
});

test('C3: the first result stands; a later one changes neither status nor text', async () => {
  const store = await storeWithTwoCalls();
  const result = { chatId: CHAT, turn: 1, key: A };
  const unknown: CallOutcome = { status: 'unknown', evidence: { code: 'lost', detail: 'gone' }, text: 'nobody knows' };
  expect(await store.recordResult({ ...result, outcome: unknown })).toEqual({
    status: 'unknown',
    evidence: unknown.evidence,
  });
  expect(await store.recordResult({ ...result, outcome: exitOutcome(0) })).toEqual({
    status: 'unknown',
    evidence: unknown.evidence,
  });
  expect(await store.findCall({ chatId: CHAT, key: A })).toMatchObject({
    status: 'unknown',
    result: { text: 'nobody knows', isError: true },
  });
});

test.each<[string, CallOutcome, boolean]>([
  ['exit 0', exitOutcome(0), false],
  ['exit 3', exitOutcome(3), true],
  ['a background command', { status: 'detached', evidence: { code: 'background', detail: '' }, text: 'runs' }, false],
  ['a fenced call', { status: 'canceled', evidence: { code: 'fenced', detail: '' }, text: 'not run' }, true],
])('the model reads %s as the error or success that it is', async (_name, outcome, isError) => {
  const store = await storeWithTwoCalls();
  await store.recordResult({ chatId: CHAT, turn: 1, key: A, outcome });
  const call = await store.findCall({ chatId: CHAT, key: A });
  expect(call).toMatchObject({ status: outcome.status, result: { text: outcome.text, isError } });
});

test('a result is stored with all that is known of the call, and watchers are told', async () => {
  const store = await storeWithTwoCalls();
  const outcome: CallOutcome = { ...exitOutcome(3, 'a\0b'), handle: 'p1' as Handle, startedAt: '2026-01-01T00:00:00Z' };
  await store.recordResult({ chatId: CHAT, turn: 1, key: A, outcome });
  expect(await store.findCall({ chatId: CHAT, key: A })).toMatchObject({
    handle: 'p1',
    exitCode: 3,
    result: { text: 'a\\0b' },
    outcome: { startedAt: '2026-01-01T00:00:00Z', exit: { code: 3 } },
  });
  const events = await store.readEvents({ chatId: CHAT, after: 0, limit: 100 });
  expect(events.at(-1)).toMatchObject({ type: 'call', call: { key: A, status: 'exited', exitCode: 3 } });
});

test('C6: a command that may run can be stopped by its key; one that has ended, or was never sent, can not', async () => {
  const store = await storeWithTwoCalls();
  const find = (key: typeof A) => store.findStoppable({ chatId: CHAT, key });
  await expect(find(parseExecutionKey('2-nobody'))).rejects.toMatchObject({ code: 'unknown_process', field: 'key' });
  await expect(find(A)).rejects.toMatchObject({ code: 'too_busy', field: 'key' });
  await store.recordTargets({ chatId: CHAT, keys: [A, B], target: TARGET });
  const call = { turn: 1, key: A, target: TARGET };
  expect(await find(A)).toMatchObject({ status: 'reserved', hasResult: false, call });

  const evidence = { code: 'background', detail: 'as asked' } as const;
  const detached: CallOutcome = { status: 'detached', evidence, handle: 'p-1' as Handle, text: 'it runs' };
  await store.recordResult({ chatId: CHAT, turn: 1, key: A, outcome: detached });
  expect(await find(A)).toMatchObject({ status: 'detached', hasResult: true, call });
  await store.recordTruth({ chatId: CHAT, turn: 1, key: A, outcome: exitOutcome(0) });
  expect(await find(A)).toEqual({ status: 'exited', hasResult: true });
});
