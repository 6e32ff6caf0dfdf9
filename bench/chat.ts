/**
 * `npm run bench:chat [-- --json] [-- --quick]`: one new message in a short and in a long conversation, from its send to
 * the end of its turn, by the scripted model, which runs in the turn worker. Both in time and in the worker's CPU, which
 * other work on the machine lengthens less.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ChatClient } from '../client/chat-client.ts';
import { describeFailure } from '../client/describe-failure.ts';
import type { ChatId } from '../contract/ids.ts';
import { turnWorkflowId } from '../contract/names.ts';
import type { TurnResult } from '../contract/turn.ts';
import { fillChat } from './long-chats.ts';
import { readCpuMs } from './process-figures.ts';
import { newChat } from './run-turn.ts';
import { build, openStage, TURN_QUEUE } from './stage.ts';
import type { Stage } from './stage.ts';
import { inRounds, summarize } from './statistics.ts';

const AIM_RATIO = 1.2;
const LOOK_MS = 20;
const SHORT_MESSAGES = 10;
const FULL = { longMessages: 10_000, rounds: 20 };
const QUICK = { longMessages: 1000, rounds: 3 };

const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
});

async function main(cleanUp: (() => Promise<void>)[]): Promise<number> {
  const say = (line: string): void => void process.stderr.write(`· ${line}\n`);
  const extent = values.quick ? QUICK : FULL;
  build();
  const stage = await openStage(cleanUp, say);
  const model = `scripted:${stage.writeScript('chat.json', { steps: [{ text: 'Done.' }] })}`;
  const chats = new ChatClient({ client: stage.client, taskQueue: TURN_QUEUE });
  say(`filling a chat with ${extent.longMessages} messages`);
  const longChat = await openChat(stage, chats, { messages: extent.longMessages, model });
  const short: Answer[] = [];
  const long: Answer[] = [];
  say('sending');
  // Two rounds warm everybody up.
  await inRounds(2 + extent.rounds, [
    async () => {
      // A new one each time: its own messages would soon make it a longer one.
      const chat = await openChat(stage, chats, { messages: SHORT_MESSAGES, model });
      short.push(await answerOne(stage, chats, chat));
    },
    async () => void long.push(await answerOne(stage, chats, longChat)),
  ]);
  const figures = { short: summarizeAnswers(short.slice(2)), long: summarizeAnswers(long.slice(2)) };
  const ratio = figures.long.median / figures.short.median;
  const line = (messages: number, { median, p95, cpuMs }: typeof figures.short): string =>
    `${String(messages).padStart(6)} messages: ${median.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms; ` +
    `${cpuMs.toFixed(0)} ms of the turn worker's CPU`;
  process.stderr.write(`${line(SHORT_MESSAGES, figures.short)}\n${line(extent.longMessages, figures.long)}\n`);
  process.stderr.write(`ratio ${ratio.toFixed(2)} (aim at most ${AIM_RATIO}, at 10,000 messages)\n`);
  if (values.json) process.stdout.write(`${JSON.stringify({ ratio, ...figures, ...extent })}\n`);
  return 0;
}

/** Its entity runs, as that of a chat in use does. */
async function openChat(
  stage: Stage,
  chats: ChatClient,
  { messages, model }: { readonly messages: number; readonly model: string },
): Promise<ChatId> {
  const chatId = await newChat(stage);
  await fillChat(stage, chatId, messages);
  await chats.bind(chatId, { model });
  return chatId;
}

interface Answer {
  readonly ms: number;
  readonly cpuMs: number;
}

/** The mean of the CPU: the kernel counts it in steps of 10 ms. */
function summarizeAnswers(answers: readonly Answer[]) {
  const cpuMs = answers.reduce((sum, answer) => sum + answer.cpuMs, 0) / answers.length;
  return { ...summarize(answers.map(({ ms }) => ms)), cpuMs };
}

async function answerOne({ client, turnWorker }: Stage, chats: ChatClient, chatId: ChatId): Promise<Answer> {
  // It hears of its last turn's end a moment after us.
  while ((await chats.view(chatId)).state !== 'idle') await delay(LOOK_MS);
  const beganMs = performance.now();
  const cpuBeforeMs = readCpuMs(turnWorker.pid);
  const { turn } = await chats.send(chatId, { clientMessageId: randomUUID(), text: 'One more.' });
  if (turn === undefined) throw new Error('an idle chat takes a message at once');
  const handle = client.workflow.getHandle<() => Promise<TurnResult>>(turnWorkflowId(chatId, turn));
  const { state } = await handle.result();
  if (state !== 'completed') throw new Error(`the turn ended as ${state}`);
  return { ms: performance.now() - beganMs, cpuMs: readCpuMs(turnWorker.pid) - cpuBeforeMs };
}

const cleanUp: (() => Promise<void>)[] = [];
let exitCode = 1;
try {
  exitCode = await main(cleanUp);
} catch (error) {
  process.stderr.write(`bench:chat: ${describeFailure(error)}\n`);
} finally {
  for (const end of cleanUp.toReversed()) await end().catch(() => undefined);
}
process.exit(exitCode);
