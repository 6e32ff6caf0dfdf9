import { expect, test } from 'vitest';
import { buildPrompt, replacedSteps } from '../../../activities/model/build-prompt.ts';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import type { MessageId } from '../../../contract/ids.ts';
import type { CompactionAttempt } from '../../../store/compactions.ts';
import type { Store } from '../../../store/store.ts';
import { AGENT, CHAT, beginTestStep, draftCall, exitOutcome, openStoreWithTurn } from './chat-fixture.ts';

const KEY = parseExecutionKey('2-a');
const USAGE = { model: 'm', inputTokens: 80, outputTokens: 10 };

/** The user's message 1 and a step 2 of one call, resolved. */
async function storeWithStep(): Promise<Store> {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.commitStep(attempt, { text: 'I look.', calls: [draftCall('a')], agentId: AGENT, usage: USAGE });
  await store.recordResult({ chatId: CHAT, turn: 1, key: KEY, outcome: exitOutcome(0, 'found') });
  return store;
}

async function begin(store: Store, messageId = 3, attemptScheduledMs = 1, number = 1): Promise<CompactionAttempt> {
  const name = { chatId: CHAT, turn: 1, number };
  const begun = await store.beginCompaction({ ...name, messageId: parseMessageId(messageId), attemptScheduledMs });
  if (begun.state !== 'begun') throw new Error('it is committed already');
  return begun.attempt;
}

const commit = (store: Store, attempt: CompactionAttempt, ids: number[], text = 'It was found.') =>
  store.commitCompaction(attempt, { text, replaced: ids as MessageId[], seenMessageId: parseMessageId(2) });

const view = async (store: Store) => (await store.loadConversation(CHAT)).map(({ role, text }) => `${role}: ${text}`);

test('a summary stands for what it replaces before the model, first, and its row says so; people keep all', async () => {
  const store = await storeWithStep();
  const attempt = await begin(store);
  await store.announceCompaction(attempt, 1);
  expect(await commit(store, attempt, [2])).toEqual({ messageId: 3, messageCount: 1 });
  expect(await view(store)).toEqual(['summary: It was found.', 'user: hello']);
  const events = await store.readEvents({ chatId: CHAT, after: 0, limit: 100 });
  expect(events.slice(-2)).toMatchObject([
    { type: 'compaction', turn: 1, messageCount: 1 },
    { type: 'message', role: 'summary', id: 3, turn: 1, text: 'It was found.', messageCount: 1 },
  ]);
  // Calls are still told of by their own rows, and nothing of the chat was hidden.
  expect(await store.listCalls({ chatId: CHAT })).toMatchObject([{ key: KEY, result: { text: 'found' } }]);
  expect(await store.findChat(CHAT)).toMatchObject({ highestMessageId: 3 });
});

test('the prompt has the summary in the first message of the user, and tells how many steps it stands for', async () => {
  const store = await storeWithStep();
  await commit(store, await begin(store), [2]);
  const prompt = buildPrompt(await store.loadConversation(CHAT));
  expect(prompt.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(prompt[1]!.content).toMatchObject([{ text: expect.stringContaining('It was found.') }, { text: 'hello' }]);
  expect(replacedSteps(prompt)).toBe(1);
});

test('a second summary takes the place of the first', async () => {
  const store = await storeWithStep();
  await commit(store, await begin(store), [2]);
  const step = await beginTestStep(store, { step: 2, messageId: 4 });
  await store.commitStep(step, { text: 'Done.', calls: [], agentId: AGENT });
  await commit(store, await begin(store, 5, 1, 2), [1, 3], 'All in all.');
  expect(await view(store)).toEqual(['summary: All in all.', 'assistant: Done.']);
});

test('I09: an attempt that was overtaken commits no summary, and a committed one is only read', async () => {
  const store = await storeWithStep();
  const first = await begin(store);
  const second = await begin(store, 9, 2);
  expect(second.messageId).toBe(3);
  await expect(commit(store, first, [2], 'first')).rejects.toMatchObject({ code: 'too_busy' });
  await expect(begin(store, 3, 1)).rejects.toMatchObject({ code: 'too_busy' });
  await commit(store, second, [2], 'second');
  expect(await commit(store, first, [1, 2], 'late')).toEqual({ messageId: 3, messageCount: 1 });
  const again = { chatId: CHAT, turn: 1, number: 1, messageId: parseMessageId(9), attemptScheduledMs: 5 };
  expect(await store.beginCompaction(again)).toEqual({
    state: 'committed',
    result: { messageId: 3, messageCount: 1 },
  });
  expect(await view(store)).toEqual(['summary: second', 'user: hello']);
});

test('T1: a turn that has ended gets no summary, and an id that is taken is refused', async () => {
  const store = await storeWithStep();
  await expect(begin(store, 2)).rejects.toMatchObject({ code: 'bad_request', field: 'messageId' });
  const attempt = await begin(store);
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'interrupted' });
  await expect(commit(store, attempt, [2])).rejects.toMatchObject({ code: 'turn_closed' });
  await expect(begin(store, 9, 5, 2)).rejects.toMatchObject({ code: 'turn_closed' });
  expect(await view(store)).toEqual(['user: hello', 'assistant: I look.']);
});

test('C3: a late truth about a call that is in a summary reaches the model as a note', async () => {
  const store = await openStoreWithTurn();
  const attempt = await beginTestStep(store);
  await store.commitStep(attempt, { text: '', calls: [draftCall('a')], agentId: AGENT });
  const unknown = { status: 'unknown', evidence: { code: 'lost', detail: 'gone' }, text: 'nobody knows' } as const;
  await store.recordResult({ chatId: CHAT, turn: 1, key: KEY, outcome: unknown });
  await commit(store, await begin(store), [2], 'Its end is not known.');
  await store.recordTruth({ chatId: CHAT, turn: 1, key: KEY, outcome: exitOutcome(3, 'it was this') });
  const [summary, user, note] = await view(store);
  expect([summary, user]).toEqual(['summary: Its end is not known.', 'user: hello']);
  expect(note).toMatch(/^note: (.|\n)*it was this/);
});

test('what was counted of the window is of no use once the conversation was compacted', async () => {
  const store = await storeWithStep();
  expect(await store.findContextUse(CHAT)).toEqual(USAGE);
  await commit(store, await begin(store), [1]);
  expect(await store.findContextUse(CHAT)).toBeUndefined();
  const step = await beginTestStep(store, { step: 2, messageId: 4 });
  await store.commitStep(step, { text: 'Done.', calls: [], agentId: AGENT, usage: { ...USAGE, inputTokens: 7 } });
  expect(await store.findContextUse(CHAT)).toMatchObject({ inputTokens: 7 });
});

test('S1: a snapshot shows all that was said and the summary, and while one is made, that', async () => {
  const store = await storeWithStep();
  const snapshot = async () => {
    const frames = [];
    const leaving = new AbortController();
    for await (const frame of store.followChat({ chatId: CHAT, signal: leaving.signal })) {
      if (frame.type === 'live') break;
      frames.push(frame);
    }
    return frames;
  };
  const attempt = await begin(store);
  await store.announceCompaction(attempt, 1);
  // The step that waits for it.
  await beginTestStep(store, { step: 2, messageId: 4 });
  expect((await snapshot()).at(-1)).toMatchObject({ type: 'compaction', messageCount: 1 });
  await commit(store, attempt, [2]);
  const frames = (await snapshot()).filter(({ type }) => type === 'message');
  expect(frames).toMatchObject([
    { type: 'message', role: 'user', text: 'hello' },
    { type: 'message', role: 'assistant', text: 'I look.' },
    { type: 'message', role: 'summary', text: 'It was found.', messageCount: 1 },
  ]);
});

test('an edit that hides a summary brings back what it stood for', async () => {
  const store = await storeWithStep();
  await commit(store, await begin(store), [2]);
  const last = await beginTestStep(store, { step: 2, messageId: 4 });
  await store.commitStep(last, { text: 'Done.', calls: [], agentId: AGENT });
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'and now?' });
  const turn = await store.reserveNextTurn(CHAT);
  await store.takeTurn({ chatId: CHAT, turn, agentId: AGENT });
  const named = { chatId: CHAT, turn, number: 1, messageId: parseMessageId(6), attemptScheduledMs: 1 };
  const begun = await store.beginCompaction(named);
  if (begun.state !== 'begun') throw new Error('it is new');
  await commit(store, begun.attempt, [1, 3, 4], 'All in all.');
  expect(await view(store)).toEqual(['summary: All in all.', 'user: and now?']);
  await store.endTurn({ chatId: CHAT, turn, state: 'interrupted' });
  await store.editMessage({ chatId: CHAT, messageId: parseMessageId(5), clientMessageId: 'm3', text: 'or now?' });
  expect(await view(store)).toEqual(['summary: It was found.', 'user: hello', 'assistant: Done.']);
});
