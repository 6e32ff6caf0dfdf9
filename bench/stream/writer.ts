/**
 * Stands for a turn worker whose models write in many chats at once: what they write goes through the same part writer
 * and store. `node bench/stream/writer.ts STORE FROM CHATS PIECES PIECE_MS`. Each piece says when it left the model.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createPartWriter } from '../../activities/model/part-writer.ts';
import { parseMessageId } from '../../contract/ids.ts';
import { openStore } from '../../store/open-store.ts';
import { chatName } from './names.ts';

const [url = '', ...numbers] = process.argv.slice(2);
const [from = 0, chats = 1, pieces = 1, pieceMs = 0] = numbers.map(Number);
const store = await openStore(url);

async function writeChat(number: number): Promise<void> {
  const chatId = chatName(number);
  const begun = await store.beginStep({
    chatId,
    turn: 1,
    step: 1,
    messageId: parseMessageId(2),
    stepNonce: 'bench',
    attemptScheduledMs: 1,
  });
  if (begun.state !== 'begun') throw new Error(`${chatId} was written before`);
  const parts = createPartWriter((text) => store.writePart(begun.attempt, text));
  let text = '';
  for (let piece = 0; piece < pieces; piece += 1) {
    // Models don't write in time with each other.
    await delay(pieceMs * (0.5 + Math.random()));
    const said = `${piece}@${process.hrtime.bigint()} `;
    text += said;
    await parts.add(said);
  }
  await delay(200);
  await parts.stop();
  const { agentId } = (await store.findChat(chatId)) ?? {};
  if (agentId === undefined) throw new Error(`there is no ${chatId}`);
  await store.commitStep(begun.attempt, { text, calls: [], agentId });
  await store.endTurn({ chatId, turn: 1, state: 'completed' });
}

await Promise.all(Array.from({ length: chats }, (_, index) => writeChat(from + index)));
await store.close();
