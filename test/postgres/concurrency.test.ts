/** What several processes may do to one chat at the same instant. Each store has connections of its own. */
import { expect, onTestFinished, test } from 'vitest';
import { parseExecutionKey } from '../../contract/execution-key.ts';
import { findFailureCode } from '../../contract/failures.ts';
import { createPool } from '../../store/postgres/pool.ts';
import type { Store } from '../../store/store.ts';
import type { StreamEvent } from '../../store/stream-events.ts';
import { makePostgresDatabase, runSql } from '../fixtures/postgres-database.ts';
import { AGENT, beginTestStep, CHAT, draftCall, exitOutcome, openTestStore } from '../unit/store/chat-fixture.ts';

const STORES_COUNT = 4;
const AT_ONCE_COUNT = 24;
const TAKE = { chatId: CHAT, agentId: AGENT };

/** The stores of a database with one chat, in which a message waits. */
async function openStores(): Promise<{ url: string; stores: Store[]; store: Store }> {
  const url = await makePostgresDatabase();
  const stores = await Promise.all(Array.from({ length: STORES_COUNT }, () => openTestStore(url)));
  const store = stores[0]!;
  await store.createChat(TAKE);
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm1', text: 'hello' });
  return { url, stores, store };
}

/** All at once, on all stores in turn; a failure is told by its code. */
async function race<Value>(stores: readonly Store[], work: (store: Store, index: number) => Promise<Value>) {
  const running = Array.from({ length: AT_ONCE_COUNT }, (_, index) => work(stores[index % stores.length]!, index));
  return (await Promise.allSettled(running)).map((end) =>
    end.status === 'fulfilled' ? end.value : (findFailureCode(end.reason) ?? String(end.reason)),
  );
}

test('T1: of turns that are taken at the same instant one gets the chat and its message', async () => {
  const { stores, store } = await openStores();
  const ends = await race(stores, (each, index) => each.takeTurn({ ...TAKE, turn: index + 1 }));
  expect(ends.filter((end) => end === 'chat_busy')).toHaveLength(AT_ONCE_COUNT - 1);
  expect(ends.filter((end) => typeof end === 'object')).toEqual([{ highestMessageId: 1 }]);
  expect(await store.loadConversation(CHAT)).toHaveLength(1);
  const events = await store.readEvents({ chatId: CHAT, after: 0, limit: 100 });
  expect(events.filter(({ type }) => type === 'turn')).toHaveLength(1);
});

test('T1: a turn that is taken many times at once is taken once, and ended many times at once it ends once', async () => {
  const { stores, store } = await openStores();
  const taken = await race(stores, (each) => each.takeTurn({ ...TAKE, turn: 1 }));
  expect(new Set(taken.map((end) => JSON.stringify(end)))).toEqual(new Set(['{"highestMessageId":1}']));
  const states = ['completed', 'failed', 'interrupted'] as const;
  await race(stores, (each, index) => each.endTurn({ chatId: CHAT, turn: 1, state: states[index % 3]! }));
  const events = await store.readEvents({ chatId: CHAT, after: 0, limit: 100 });
  const ends = events.filter((event) => event.type === 'turn').map(({ state }) => state);
  expect(ends).toEqual(['active', (await store.findTurn({ chatId: CHAT, turn: 1 }))?.state]);
});

test('a client message id that comes from everywhere at once counts once; others get places without a gap', async () => {
  const { stores } = await openStores();
  const send = (each: Store, clientMessageId: string) =>
    each.enqueueUserMessage({ chatId: CHAT, clientMessageId, text: 'x' });
  const same = await race(stores, (each) => send(each, 'same'));
  expect(same.filter((end) => typeof end === 'object' && end.isNew)).toHaveLength(1);
  expect(new Set(same.map((end) => (typeof end === 'object' ? end.position : end)))).toEqual(new Set([2]));
});

test('I09: of attempts that begin, write and commit one step at once one commits, and the rest agree with it', async () => {
  const { stores, store } = await openStores();
  await store.takeTurn({ ...TAKE, turn: 1 });
  const ends = await race(stores, async (each, index) => {
    const attempt = await beginTestStep(each, { stepNonce: `n${index}`, attemptScheduledMs: index + 1 });
    await each.writePart(attempt, `part ${index}`);
    return each.commitStep(attempt, { text: `by ${index}`, calls: [draftCall('a')], agentId: AGENT });
  });
  const results = ends.filter((end) => typeof end === 'object').map(({ calls }) => calls[0]?.nonce);
  expect(results.length).toBeGreaterThan(0);
  expect(new Set(results).size).toBe(1);
  const refused = ends.filter((end) => typeof end === 'string' && end !== 'too_busy' && !/committed before/.test(end));
  expect(refused).toEqual([]);
  expect(await store.listCalls({ chatId: CHAT })).toHaveLength(1);
  const events = await store.readEvents({ chatId: CHAT, after: 0, limit: 1000 });
  expect(events.filter((event) => event.type === 'message' && event.role === 'assistant')).toHaveLength(1);
  expect(events.filter(({ type }) => type === 'part')).toEqual([]);
});

test('C3, K5: of results and targets that come at once the first stands, and everybody is told that one', async () => {
  const { stores, store } = await openStores();
  await store.takeTurn({ ...TAKE, turn: 1 });
  const attempt = await beginTestStep(store);
  await store.commitStep(attempt, { text: '', calls: [draftCall('a')], agentId: AGENT });
  const call = { chatId: CHAT, key: parseExecutionKey('2-a') };
  const target = exitOutcome(0).evidence.target!;
  const targets = await race(stores, (each, sequence) =>
    each.recordTargets({ chatId: CHAT, keys: [call.key], target: { ...target, sequence } }),
  );
  expect(new Set(targets.map((end) => JSON.stringify(end))).size).toBe(1);
  const ends = await race(stores, (each, code) =>
    each.recordResult({ ...call, turn: 1, outcome: exitOutcome(code, `exit ${code}`) }),
  );
  const held = await store.findCall(call);
  expect(new Set(ends.map((end) => JSON.stringify(end)))).toEqual(
    new Set([JSON.stringify({ status: 'exited', evidence: held?.evidence })]),
  );
  expect(held?.evidence?.detail).toBe(`It exited with ${held?.exitCode}.`);
});

test('S1: a reader that follows while everybody writes skips no event and sees none twice', async () => {
  const { url, stores, store } = await openStores();
  await store.takeTurn({ ...TAKE, turn: 1 });
  const attempt = await beginTestStep(store);
  const follower = await openTestStore(url);
  const before = (await store.readEvents({ chatId: CHAT, after: 0, limit: 100 })).length;
  const seen: StreamEvent[] = [];
  const writing = race(stores, async (each, index) => {
    for (const part of ['a', 'b', 'c', 'd']) await each.writePart(attempt, `${index}${part}`);
  });
  const last = before + AT_ONCE_COUNT * 4;
  while (seen.length < last) {
    const after = seen.at(-1)?.seq ?? 0;
    seen.push(...(await follower.readEvents({ chatId: CHAT, after, limit: 7 })));
    // Whoever skips one would wait for it for ever.
    if (after === last) break;
  }
  expect((await writing).filter((end) => end !== undefined)).toEqual([]);
  expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, index) => index + 1));
});

test('what is written while connections break is there once, and never twice; a doubt is told', async () => {
  const { url, stores, store } = await openStores();
  await store.takeTurn({ ...TAKE, turn: 1 });
  const attempt = await beginTestStep(store);
  const breaking = (async () => {
    for (let round = 0; round < 8; round += 1) await runSql(url, BREAK_ALL_OTHERS);
  })();
  const ends = await race(stores, async (each, index) => {
    for (const part of 'abcdef') await each.writePart(attempt, `${index}${part} `);
    return `${index}`;
  });
  await breaking;
  const events = await store.readEvents({ chatId: CHAT, after: 0, limit: 1000 });
  const texts = events.flatMap((event) => (event.type === 'part' ? [event.text] : []));
  expect(new Set(texts).size).toBe(texts.length);
  // One that failed had lost its connection in the commit: its part may be there or not, and it stopped there.
  const whole = ends.filter((end) => /^\d+$/.test(end));
  for (const index of whole) for (const part of 'abcdef') expect(texts).toContain(`${index}${part} `);
  for (const end of ends.filter((each) => !whole.includes(each)))
    expect(end).toMatch(/whether the change is there is not known/);
});

const BREAK_ALL_OTHERS = `select pg_terminate_backend(pid), pg_sleep(0.02) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;

test('a process that froze in the middle of a change does not hold its chat', async () => {
  const { url, store } = await openStores();
  const pool = createPool({ url, statementTimeoutMs: 30_000 });
  onTestFinished(() => pool.end());
  const frozen = await pool.connect();
  onTestFinished(() => frozen.release(true));
  await frozen.query('begin');
  await frozen.query(`select from chats where id = '${CHAT}' for update`);
  expect(await store.reserveNextTurn(CHAT)).toBe(1);
});
