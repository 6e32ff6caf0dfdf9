import { expect, test } from 'vitest';
import { buildPrompt } from '../../../activities/model/build-prompt.ts';
import type { CallOutcome, EvidenceCode, ResolvedStatus } from '../../../contract/calls.ts';
import type { ExecutionKey } from '../../../contract/ids.ts';
import type { Store } from '../../../store/store.ts';
import {
  AGENT,
  beginTestStep,
  CHAT,
  draftCall,
  exitOutcome,
  openStoreWithTurn,
  TARGET,
} from '../store/chat-fixture.ts';

const KEY = '2-a' as ExecutionKey;
const CALL = { chatId: CHAT, turn: 1, key: KEY };

function outcome(status: ResolvedStatus, code: EvidenceCode, text = `[${status}]`): CallOutcome {
  return { status, evidence: { code, detail: code, target: TARGET }, text };
}

async function openStoreWithCall(): Promise<Store> {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.commitStep(attempt, { text: 'I look.', calls: [draftCall('a')], agentId: AGENT, target: TARGET });
  return store;
}

test('C3: a later truth moves the status and the evidence of a call, and its text stays', async () => {
  const store = await openStoreWithCall();
  await store.recordResult({ ...CALL, outcome: outcome('unknown', 'trust_window', 'nobody knows') });
  const truth = await store.recordTruth({ ...CALL, outcome: exitOutcome(3, 'it printed this\n[exit code 3]') });
  expect(truth).toMatchObject({ status: 'exited', evidence: { code: 'exit' } });
  expect(await store.findCall(CALL)).toMatchObject({
    status: 'exited',
    exitCode: 3,
    result: { text: 'nobody knows' },
    settledAt: expect.any(String) as string,
  });
});

test('C3: the model reads a note of it before its next step, after the result, which is as it was', async () => {
  const store = await openStoreWithCall();
  await store.recordResult({ ...CALL, outcome: outcome('unknown', 'trust_window', 'nobody knows') });
  const before = buildPrompt(await store.loadConversation(CHAT));
  await store.recordTruth({ ...CALL, outcome: exitOutcome(3, 'it printed this\n[exit code 3]') });
  const after = buildPrompt(await store.loadConversation(CHAT));
  expect(after.slice(0, before.length)).toEqual(before);
  const note = JSON.stringify(after.slice(before.length));
  expect(note).toContain('nobody knows');
  expect(note).toContain('it printed this');
  expect(note).toContain('exit code 3');
});

test('C3: a note that comes while the next step is generated stands after that step, which can not have known of it', async () => {
  const store = await openStoreWithCall();
  await store.recordResult({ ...CALL, outcome: outcome('unknown', 'trust_window') });
  const second = await beginTestStep(store, { step: 2, messageId: 3 });
  await store.recordTruth({ ...CALL, outcome: exitOutcome(0) });
  await store.commitStep(second, { text: 'Two.', calls: [draftCall('b')], agentId: AGENT });
  const roles = (await store.loadConversation(CHAT)).map((message) => message.role);
  expect(roles).toEqual(['user', 'assistant', 'assistant', 'note']);
});

test('watchers get an event of the moved call, and the note', async () => {
  const store = await openStoreWithCall();
  await store.recordResult({ ...CALL, outcome: outcome('unknown', 'trust_window') });
  const { length } = await store.readEvents({ chatId: CHAT, after: 0, limit: 1000 });
  await store.recordTruth({ ...CALL, outcome: exitOutcome(0) });
  const news = (await store.readEvents({ chatId: CHAT, after: 0, limit: 1000 })).slice(length);
  expect(news).toMatchObject([
    { type: 'call', call: { key: KEY, status: 'exited' } },
    { type: 'note', key: KEY },
  ]);
});

test.each<[string, CallOutcome, CallOutcome]>([
  ['doubt after an exit', exitOutcome(0), outcome('unknown', 'lost')],
  ['another exit', exitOutcome(0), exitOutcome(1)],
  ['the same doubt again', outcome('unknown', 'trust_window'), outcome('unknown', 'settle_gave_up')],
])('%s changes nothing and tells nobody', async (_name, held, truth) => {
  const store = await openStoreWithCall();
  await store.recordResult({ ...CALL, outcome: held });
  const before = [await store.findCall(CALL), await store.readEvents({ chatId: CHAT, after: 0, limit: 1000 })];
  expect(await store.recordTruth({ ...CALL, outcome: truth })).toMatchObject({ status: held.status });
  const after = [await store.findCall(CALL), await store.readEvents({ chatId: CHAT, after: 0, limit: 1000 })];
  expect(after).toEqual(before);
});

test("a person's word gives way to what the agent proves, also where it said exited", async () => {
  const store = await openStoreWithCall();
  await store.recordResult({ ...CALL, outcome: outcome('exited', 'operator') });
  expect(await store.recordTruth({ ...CALL, outcome: outcome('no_effect', 'fenced') })).toMatchObject({
    status: 'no_effect',
  });
});

test('a call whose end is still asked for has its result, lets the turn end, and becomes what a settle finds', async () => {
  const store = await openStoreWithCall();
  await store.recordCancelRequests({ chatId: CHAT, keys: [KEY] });
  await expect(store.endTurn({ chatId: CHAT, turn: 1, state: 'interrupted' })).rejects.toThrow('no result');
  const asked = outcome('unknown', 'agent_silent', 'not known yet');
  expect(await store.recordResult({ ...CALL, outcome: asked, isStillAsked: true })).toMatchObject({
    status: 'cancel_requested',
  });
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'interrupted' });
  expect((await store.listUnfinished()).calls).toMatchObject([{ turn: 1, call: { key: KEY, hasResult: true } }]);
  await store.recordTruth({ ...CALL, outcome: outcome('canceled', 'killed') });
  expect(await store.findCall(CALL)).toMatchObject({ status: 'canceled', result: { text: 'not known yet' } });
  expect((await store.listUnfinished()).calls).toEqual([]);
});

test('C1: a truth that comes before the turn has recorded anything is the result, and the first one stands', async () => {
  const store = await openStoreWithCall();
  await store.recordTruth({ ...CALL, outcome: exitOutcome(0, 'the truth') });
  expect(await store.recordResult({ ...CALL, outcome: outcome('unknown', 'attempt_ended') })).toMatchObject({
    status: 'exited',
  });
  expect((await store.findCall(CALL))?.result?.text).toBe('the truth');
});
