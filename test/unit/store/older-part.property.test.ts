import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Kysely } from 'kysely';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { CallOutcome } from '../../../contract/calls.ts';
import { buildExecutionKey, parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseChatId, parseMessageId } from '../../../contract/ids.ts';
import type { ChatId, MessageId, ToolCallId } from '../../../contract/ids.ts';
import { ChatChanges } from '../../../store/chat-changes.ts';
import { loadConversation } from '../../../store/conversation.ts';
import { OlderParts } from '../../../store/older-part.ts';
import { openDatabase } from '../../../store/open-database.ts';
import type { Schema } from '../../../store/schema.ts';
import { createStore } from '../../../store/store.ts';
import type { Store } from '../../../store/store.ts';
import { AGENT, CHAT, draftCall, exitOutcome, makeTemporaryFolder, TARGET } from './chat-fixture.ts';

const isOnPostgres = (inject('postgresUrl') as string | undefined) !== undefined;

/** Each makes, copies and opens databases. */
const RUNS = 20;

type Act =
  | {
      readonly kind: 'turn';
      readonly calls: number;
      readonly hasAnswer: boolean;
      readonly isLateResult: boolean;
    }
  | { readonly kind: 'truth'; readonly pick: number }
  | { readonly kind: 'edit'; readonly pick: number }
  | { readonly kind: 'summary'; readonly pick: number }
  | { readonly kind: 'backup' }
  | { readonly kind: 'restore' };

const acts = fc.array(
  fc.oneof<fc.WeightedArbitrary<Act>[]>(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('turn' as const),
        calls: fc.integer({ min: 0, max: 2 }),
        hasAnswer: fc.boolean(),
        isLateResult: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('truth' as const), pick: fc.nat(50) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('edit' as const), pick: fc.nat(50) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('summary' as const), pick: fc.nat(50) }) },
    { weight: 2, arbitrary: fc.constantFrom<Act>({ kind: 'backup' }, { kind: 'restore' }) },
  ),
  { minLength: 3, maxLength: 14 },
);

/** A store on a file that can be put back to what it was, as an operator would who restores a copy. */
class World {
  readonly #root: string;
  #db!: Kysely<Schema>;
  store!: Store;
  #count = 0;

  private constructor(root: string) {
    this.#root = root;
  }

  static async open(): Promise<World> {
    const world = new World(await makeTemporaryFolder());
    mkdirSync(join(world.#root, 'live'));
    await world.#connect();
    await world.store.createChat({ chatId: CHAT, agentId: AGENT });
    world.backup();
    return world;
  }

  get db(): Kysely<Schema> {
    return this.#db;
  }

  async #connect(): Promise<void> {
    this.#db = (await openDatabase(`sqlite:${join(this.#root, 'live', 'store.sqlite')}`)).db;
    this.store = createStore(this.#db, new ChatChanges(this.#db));
  }

  backup(): void {
    rmSync(join(this.#root, 'backup'), { recursive: true, force: true });
    cpSync(join(this.#root, 'live'), join(this.#root, 'backup'), { recursive: true });
  }

  async restore(): Promise<void> {
    await this.close();
    rmSync(join(this.#root, 'live'), { recursive: true });
    cpSync(join(this.#root, 'backup'), join(this.#root, 'live'), { recursive: true });
    await this.#connect();
  }

  close(): Promise<void> {
    return this.store.close();
  }

  async turn({ calls, hasAnswer, isLateResult }: Extract<Act, { kind: 'turn' }>): Promise<void> {
    const { store } = this;
    this.#count += 1;
    await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: `m${this.#count}`, text: `asked ${this.#count}` });
    const turn = await store.reserveNextTurn(CHAT);
    const { highestMessageId } = await store.takeTurn({ chatId: CHAT, turn, agentId: AGENT });
    const messageId = await this.#step(turn, 1, highestMessageId + 1, calls);
    const keys = Array.from({ length: calls }, (_, index) => keyOf(messageId, index));
    const record = async (): Promise<void> => {
      for (const key of keys) await store.recordResult({ chatId: CHAT, turn, key, outcome: DETACHED });
    };
    if (!isLateResult) await record();
    await this.onRead();
    if (isLateResult) await record();
    if (hasAnswer) await this.#step(turn, 2, messageId + 1, 0);
    await this.onRead();
    await store.endTurn({ chatId: CHAT, turn, state: 'completed' });
  }

  /** Called while a turn is under way, too: that is when a model is asked. */
  onRead: () => Promise<void> = async () => undefined;

  async #step(turn: number, step: number, id: number, calls: number): Promise<MessageId> {
    const messageId = parseMessageId(id);
    const name = { chatId: CHAT, turn, step, messageId, stepNonce: `${this.#count}.${step}`, attemptScheduledMs: 1 };
    const begun = await this.store.beginStep(name);
    if (begun.state !== 'begun') throw new Error('committed before');
    await this.store.commitStep(begun.attempt, {
      text: `said ${this.#count}.${step}`,
      calls: Array.from({ length: calls }, (_, index) => draftCall(`c${index}`)),
      agentId: AGENT,
      target: TARGET,
    });
    return begun.attempt.messageId;
  }

  async truth(pick: number): Promise<void> {
    const calls = await this.store.listCalls({ chatId: CHAT });
    const call = calls[pick % Math.max(1, calls.length)];
    if (call === undefined) return;
    const { key, turn } = call;
    await this.store.recordTruth({ chatId: CHAT, turn, key, outcome: exitOutcome(3, `truth ${pick}`) });
  }

  async edit(pick: number): Promise<void> {
    const users = (await this.store.loadConversation(CHAT)).filter((message) => message.role === 'user');
    const message = users[pick % Math.max(1, users.length)];
    if (message?.role !== 'user') return;
    this.#count += 1;
    const text = `edited ${this.#count}`;
    await this.store.editMessage({ chatId: CHAT, messageId: message.id, clientMessageId: `e${this.#count}`, text });
    // Its text waits, and the next turn answers it first.
  }

  /** In a turn of its own, of the messages before it. */
  async summary(pick: number): Promise<void> {
    const { store } = this;
    const replaced = (await store.loadConversation(CHAT)).flatMap((message) =>
      message.role === 'user' || message.role === 'assistant' ? [message.id] : [],
    );
    if (replaced.length === 0) return;
    this.#count += 1;
    await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: `m${this.#count}`, text: `long ${this.#count}` });
    const turn = await store.reserveNextTurn(CHAT);
    const { highestMessageId } = await store.takeTurn({ chatId: CHAT, turn, agentId: AGENT });
    const messageId = parseMessageId(highestMessageId + 1);
    const begun = await store.beginCompaction({ chatId: CHAT, turn, number: 1, messageId, attemptScheduledMs: 1 });
    if (begun.state !== 'begun') throw new Error('committed before');
    const part = replaced.slice(0, 1 + (pick % replaced.length));
    const seenMessageId = parseMessageId(highestMessageId);
    await store.commitCompaction(begun.attempt, { text: `in short ${this.#count}`, replaced: part, seenMessageId });
    await this.#step(turn, 1, messageId + 1, 0);
    await store.endTurn({ chatId: CHAT, turn, state: 'completed' });
  }
}

const DETACHED: CallOutcome = {
  ...exitOutcome(0),
  status: 'detached',
  evidence: { code: 'background', detail: 'it runs' },
};

function keyOf(messageId: MessageId, index: number) {
  return parseExecutionKey(buildExecutionKey({ messageId, toolCallId: `c${index}` as ToolCallId }));
}

test.skipIf(isOnPostgres)(
  'T3, I02: a conversation with its older part kept is the one that is read whole, whatever is edited, summed up, learnt late or rolled back',
  async () => {
    let used = 0;
    await fc.assert(
      fc.asyncProperty(acts, async (list) => {
        const world = await World.open();
        const older = new OlderParts({ messagesMin: 2, charactersMax: 10_000 });
        const compare = async (): Promise<void> => {
          const kept = await loadConversation({ db: world.db, older }, CHAT);
          const whole = await loadConversation({ db: world.db, older: new OlderParts() }, CHAT);
          expect(kept).toEqual(whole);
          if ((await older.findProven(world.db, CHAT)) !== undefined) used += 1;
        };
        world.onRead = compare;
        try {
          for (const act of list) {
            if (act.kind === 'turn') await world.turn(act);
            else if (act.kind === 'backup') world.backup();
            else if (act.kind === 'restore') await world.restore();
            else if (act.kind === 'truth') await world.truth(act.pick);
            else if (act.kind === 'edit') await world.edit(act.pick);
            else await world.summary(act.pick);
            // Nobody may look before the store has grown again past what was known of it.
            if (act.kind !== 'restore') await compare();
          }
        } finally {
          await world.close();
        }
      }),
      { numRuns: RUNS },
    );
    // The comparison would say nothing if no part was ever used.
    expect(used).toBeGreaterThan(RUNS);
  },
  120_000,
);

test('the parts that were used last are kept, within the limit of all chats together', async () => {
  const { db } = await openDatabase(`sqlite:${join(await makeTemporaryFolder(), 'store.sqlite')}`);
  const store = createStore(db, new ChatChanges(db));
  onTestFinished(() => store.close());
  const older = new OlderParts({ messagesMin: 1, charactersMax: 10 });
  const [first, second, third] = ['first', 'second', 'third'].map(parseChatId) as [ChatId, ChatId, ChatId];
  for (const chatId of [first, second, third]) {
    await store.createChat({ chatId, agentId: AGENT });
    for (const id of ['old1', 'new1']) {
      await store.enqueueUserMessage({ chatId, clientMessageId: id, text: id });
      const turn = await store.reserveNextTurn(chatId);
      await store.takeTurn({ chatId, turn, agentId: AGENT });
      await store.endTurn({ chatId, turn, state: 'completed' });
    }
  }
  const isKept = async (chatId: ChatId) => (await older.findProven(db, chatId)) !== undefined;
  await loadConversation({ db, older }, first);
  await loadConversation({ db, older }, second);
  expect([await isKept(second), await isKept(first)]).toEqual([true, true]);
  // Two of four characters each have room, a third has not: the one that was asked for longest ago goes.
  await loadConversation({ db, older }, third);
  expect([await isKept(first), await isKept(second), await isKept(third)]).toEqual([true, false, true]);
});
