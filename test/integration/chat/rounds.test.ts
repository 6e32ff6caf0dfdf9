import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { parseChatId } from '../../../contract/ids.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';
import { Whole } from '../../fixtures/whole-turn.ts';

/** A send counts when it falls within this of the end of the turn before. */
const NEAR_MS = 20;
const CHATS = 6;
const IS_LONG = process.env['LATCHKEY_LONG'] === '1';
/** How many sends must have counted; the short form has 60 sends, wherever the machine's load puts most of them. */
const NEAR = IS_LONG ? 500 : 8;
const SENDS_MIN = IS_LONG ? 0 : 60;
const SENDS_MAX = IS_LONG ? 6000 : 200;

/** Looks into the file itself, since two looks a millisecond of all chats through the store would be most of the load. */
function openLooks(whole: Whole) {
  const database = new DatabaseSync(whole.storeUrl.slice('sqlite:'.length), { readOnly: true });
  onTestFinished(() => database.close());
  const isEnded = database.prepare(`select 1 from turns where chat_id = ? and turn = ? and state <> 'active'`);
  const isAnswered = database.prepare(`select 1 from messages where chat_id = ? and turn = ? and role = 'assistant'`);
  return { isEnded, isAnswered };
}

/** Waits until the turn has its answer, or its end. */
async function awaitRow(chat: WholeChat, turn: number, look: StatementSync): Promise<void> {
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; await sleep(2)) {
    if (look.get(chat.chatId, turn) !== undefined) return;
  }
  throw new Error(`turn ${turn} does not end\n${await chat.describe()}`);
}

async function endOf(chat: WholeChat, turn: number): Promise<number> {
  const { store } = chat.whole;
  const row = await chat.until(`turn ${turn} has ended`, async () => {
    const found = await store.findTurn({ chatId: chat.chatId, turn });
    return found?.endedAt === undefined ? undefined : found;
  });
  return Date.parse(row.endedAt ?? '');
}

/** One message after the other, each around the end of the turn before it; returns how many were sent. */
async function sendAround(
  chat: WholeChat,
  looks: ReturnType<typeof openLooks>,
  { count, random }: { readonly count: { near: number; sends: number }; readonly random: () => number },
): Promise<number> {
  const isEnough = () => count.sends >= SENDS_MAX || (count.sends >= SENDS_MIN && count.near >= NEAR);
  await chat.send('m1');
  let turn = 1;
  for (; !isEnough(); turn += 1) {
    // Before the end is written, or after it while the turn's workflow closes: around what the chat hears of it.
    await awaitRow(chat, turn, turn % 2 === 0 ? looks.isAnswered : looks.isEnded);
    await sleep((random() * NEAR_MS) / 2);
    const sentAt = Date.now();
    count.sends += 1;
    await chat.send(`m${turn + 1}`);
    if (Math.abs((await endOf(chat, turn)) - sentAt) <= NEAR_MS) count.near += 1;
  }
  return turn;
}

test(
  `G07: messages that are sent within ±${NEAR_MS} ms of the end of a turn are each answered once, in order`,
  async () => {
    const whole = await Whole.open();
    const chats = await Promise.all(
      Array.from({ length: CHATS }, (_, index) =>
        WholeChat.open(whole, {}, { chatId: parseChatId(`${whole.chatId}-${index}`) }),
      ),
    );
    const count = { near: 0, sends: 0 };
    let seed = 7;
    const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const looks = openLooks(whole);
    const sends = await Promise.all(chats.map((chat) => sendAround(chat, looks, { count, random })));
    for (const [index, chat] of chats.entries()) {
      const sent = sends[index] ?? 0;
      await chat.idle(sent);
      const texts = Array.from({ length: sent }, (_, number) => `m${number + 1}`);
      expect(await chat.said()).toEqual(texts.flatMap((text) => [`user: ${text}`, 'assistant: Done.']));
    }
    expect(count.near).toBeGreaterThanOrEqual(NEAR);
  },
  IS_LONG ? 1_800_000 : 150_000,
);
