/**
 * Stands for a turn worker whose models write in many chats at once: what they say comes over HTTP through the AI SDK,
 * and goes through the same part writer and store. `node bench/stream/writer.ts STORE PROVIDER FROM CHATS`.
 */
import { createPartWriter } from '../../activities/model/part-writer.ts';
import { resolveModel } from '../../activities/model/resolve-model.ts';
import { streamModel } from '../../activities/model/stream-model.ts';
import { parseMessageId } from '../../contract/ids.ts';
import { openStore } from '../../store/open-store.ts';
import { chatName } from './names.ts';

const [url = '', providerUrl = '', ...numbers] = process.argv.slice(2);
const [from = 0, chats = 1] = numbers.map(Number);
const store = await openStore(url);
const model = await resolveModel('openai-compatible/bench', { env: { LATCHKEY_MODEL_BASE_URL: providerUrl } });

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
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'write' }] }];
  for await (const part of streamModel({ model, prompt, abortSignal: new AbortController().signal })) {
    if (part.type !== 'text') continue;
    text += part.text;
    await parts.add(part.text);
  }
  await parts.stop();
  const { agentId } = (await store.findChat(chatId)) ?? {};
  if (agentId === undefined) throw new Error(`there is no ${chatId}`);
  await store.commitStep(begun.attempt, { text, calls: [], agentId });
  await store.endTurn({ chatId, turn: 1, state: 'completed' });
}

await Promise.all(Array.from({ length: chats }, (_, index) => writeChat(from + index)));
await store.close();
