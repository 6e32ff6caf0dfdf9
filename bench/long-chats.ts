/** Whether a call costs more in a long conversation. */
import { randomUUID } from 'node:crypto';
import type { ChatId, MessageId } from '../contract/ids.ts';
import { parseMessageId } from '../contract/ids.ts';
import { readRounds, roundsOf } from './histories.ts';
import { beginTurn, endOfTurn, newChat, stepsOfTrue } from './run-turn.ts';
import type { Stage } from './stage.ts';
import { inRounds, summarize } from './statistics.ts';
import type { Figure } from './statistics.ts';

export interface LongChats {
  readonly short: ChatCost;
  readonly long: ChatCost;
}

export interface ChatCost {
  readonly messages: number;
  /** From the dispatch to the next model call. */
  readonly callMs: Figure;
  /** With the model call, which reads the whole conversation and hands it to the (scripted) model. */
  readonly stepMs: Figure;
}

const SHORT_MESSAGES = 10;
/** About what a message of a working session has. */
const MESSAGE_TEXT = 'A sentence of a conversation, long enough to be one. '.repeat(8);

export async function measureLongChats(
  stage: Stage,
  size: { readonly rounds: number; readonly callsEach: number; readonly longMessages: number },
): Promise<LongChats> {
  const script = stage.writeScript('long-chats.json', stepsOfTrue(size.callsEach));
  const costs = [SHORT_MESSAGES, size.longMessages].map((messages): Samples => ({ messages, calls: [], steps: [] }));
  const ways = costs.map((cost) => async () => {
    // A chat of its own each round, since every turn adds messages.
    const chatId = await newChat(stage);
    await fillChat(stage, chatId, cost.messages);
    const handle = await beginTurn(stage, { chatId, script });
    await endOfTurn(handle, size.callsEach);
    const rounds = await readRounds(handle);
    const calls = roundsOf(rounds, 'execute');
    const models = roundsOf(rounds, 'generateStep');
    cost.calls.push(...calls);
    cost.steps.push(...calls.map((ms, index) => ms + (models[index] ?? 0)));
  });
  await inRounds(size.rounds, ways);
  const [short, long] = costs.map(({ messages, calls, steps }) => ({
    messages,
    callMs: summarize(calls),
    stepMs: summarize(steps),
  }));
  if (short === undefined || long === undefined) throw new Error('two lengths are compared');
  return { short, long };
}

interface Samples {
  readonly messages: number;
  readonly calls: number[];
  readonly steps: number[];
}

/** Turns of a question and an answer, by the store's own verbs. */
export async function fillChat({ store, target }: Stage, chatId: ChatId, messages: number): Promise<void> {
  for (let written = 0; written < messages; written += 2) {
    await store.enqueueUserMessage({ chatId, clientMessageId: randomUUID(), text: MESSAGE_TEXT });
    const turn = await store.reserveNextTurn(chatId);
    const { highestMessageId } = await store.takeTurn({ chatId, turn, agentId: target.agentId });
    const messageId: MessageId = parseMessageId(highestMessageId + 1);
    const step = { chatId, turn, step: 1, messageId, stepNonce: randomUUID(), attemptScheduledMs: Date.now() };
    const begun = await store.beginStep(step);
    if (begun.state === 'committed') throw new Error('a new turn has no committed step');
    await store.commitStep(begun.attempt, { text: MESSAGE_TEXT, calls: [], agentId: target.agentId });
    await store.endTurn({ chatId, turn, state: 'completed' });
  }
}
