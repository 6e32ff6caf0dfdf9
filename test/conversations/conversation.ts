/** One conversation: what a person asked of it and was told, from the first message to the last. */
import { setTimeout as delay } from 'node:timers/promises';
import { ChatClient } from '../../client/chat-client.ts';
import type { NewChat, SendRequest } from '../../contract/chat.ts';
import { CodedError } from '../../contract/failures.ts';
import { parseChatId } from '../../contract/ids.ts';
import type { ChatId } from '../../contract/ids.ts';
import { SeededRandom } from '../crash-matrix/seeded-random.ts';
import type { Stage } from '../fault-matrix/stage.ts';
import { HEARTBEAT_TIMEOUT_MS } from '../fault-matrix/stage.ts';
import { ACTS } from './acts.ts';
import { answerTo, planReplies } from './plan.ts';
import type { ConversationProvider } from './provider.ts';
import { describeWorkflows } from './describe-workflows.ts';
import { Transcript } from './transcript.ts';

/** Far past every time-out that kills may cost between two events. */
const WEDGED_AFTER_MS = 180_000;
/** Of one question; workers and server may be away for most of it. */
const ANSWER_MS_MAX = 60_000;
const ASK_AGAIN_MS = 300;
const LOOK_MS = 100;
export const ACTS_COUNT = { short: { low: 2, high: 5 }, full: { low: 5, high: 10 } } as const;
/** Between two acts: some at once, some when a turn is well under way. */
const PAUSE_MS_MAX = 1200;
const TIMINGS = { heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS, interruptGraceMs: 6000, describeAgentMs: 4000 };

/** A message that was accepted. */
export interface Accepted {
  readonly clientMessageId: string;
  readonly text: string;
  /** Put in front of what waited, by an edit, an interrupt or a promotion. */
  isFront: boolean;
  isDeleted: boolean;
}

export class Conversation {
  readonly number: number;
  readonly name: string;
  readonly chatId: ChatId;
  readonly random: SeededRandom;
  readonly chats: ChatClient;
  readonly transcript: Transcript;
  readonly accepted: Accepted[] = [];
  /** What was done, for whoever repeats it. */
  readonly acts: string[] = [];
  /** Whether anybody ever asked for a turn's end. */
  hasInterrupted = false;
  readonly stage: Stage;
  readonly provider: ConversationProvider;
  readonly #create: NewChat;
  readonly #acts: { readonly low: number; readonly high: number };
  #sent = 0;

  constructor(
    stage: Stage,
    provider: ConversationProvider,
    { number, seed, size }: { number: number; seed: number; size: keyof typeof ACTS_COUNT },
  ) {
    this.stage = stage;
    this.provider = provider;
    this.number = number;
    this.random = new SeededRandom(seed * 1_000_003 + number);
    this.#acts = ACTS_COUNT[size];
    this.name = `c${number}`;
    this.chatId = parseChatId(this.name);
    const { client, turnQueue: taskQueue, store } = stage;
    this.chats = new ChatClient({ client, taskQueue, store, turns: { timings: TIMINGS } });
    this.transcript = new Transcript(store, this.chatId);
    this.#create = { agentId: stage.agentId, model: `openai-compatible/${this.name}` };
  }

  /** Throws when it is wedged. */
  async run(): Promise<void> {
    const { random } = this;
    await this.send({});
    for (let left = random.between(this.#acts.low, this.#acts.high); left > 0; left--) {
      // Not a wait for anything: when somebody does something is the seed's choice.
      await delay(random.chance(0.3) ? 0 : random.between(0, PAUSE_MS_MAX));
      await this.transcript.look();
      await this.#act();
    }
    await this.#isIdle();
    await this.send({ isLast: true });
    await this.#isIdle();
  }

  async send({ mode = 'queue', isLast = false }: { mode?: 'queue' | 'interrupt'; isLast?: boolean }): Promise<void> {
    const text = this.newText(isLast);
    const accepted = { clientMessageId: text, text, isFront: mode === 'interrupt', isDeleted: false };
    if (mode === 'interrupt') this.hasInterrupted = true;
    if (await this.asked(`send ${text} ${mode}`, () => this.sendAgain(text, mode))) this.accepted.push(accepted);
  }

  sendAgain(text: string, mode: NonNullable<SendRequest['mode']> = 'queue') {
    return this.chats.send(this.chatId, { clientMessageId: text, text, mode }, this.#create);
  }

  /** A text that nobody has sent, and the model's plan for it. */
  newText(isLast = false): string {
    const text = `${this.name}-m${++this.#sent}`;
    this.provider.plan(text, isLast ? [{ text: answerTo(text) }] : planReplies(text, this.stage.runLog, this.random));
    return text;
  }

  /** Asks until there is an answer: while server or workers are away there is none. False when it was refused in words. */
  async asked(what: string, ask: () => Promise<unknown>): Promise<boolean> {
    const deadlineMs = performance.now() + WEDGED_AFTER_MS;
    for (;;) {
      try {
        // Asked again also where the question itself is never answered: a chat whose history doesn't replay is silent.
        await this.stage.client.connection.withDeadline(Date.now() + ANSWER_MS_MAX, ask);
        this.acts.push(what);
        return true;
      } catch (error) {
        if (error instanceof CodedError) {
          this.acts.push(`${what}: refused, ${error.code}`);
          return false;
        }
        if (performance.now() > deadlineMs) throw new Error(`nobody answers: ${what}`, { cause: error });
      }
      await delay(ASK_AGAIN_MS);
    }
  }

  async #act(): Promise<void> {
    const total = ACTS.reduce((sum, { weight }) => sum + weight, 0);
    let place = this.random.between(1, total);
    for (const { weight, run } of ACTS) {
      place -= weight;
      if (place <= 0) return run(this);
    }
  }

  /** Every message has been answered, and nothing of any turn is left to do. */
  async #isIdle(): Promise<void> {
    const { store } = this.stage;
    let deadlineMs = 0;
    let told = -1;
    for (;;) {
      await this.transcript.look();
      // A queue of several turns on a busy machine takes its time; what stands still for so long is wedged.
      if (this.transcript.events.length !== told) deadlineMs = performance.now() + WEDGED_AFTER_MS;
      told = this.transcript.events.length;
      const open = this.#openMessages();
      if (open.length === 0 && (await store.findChat(this.chatId))?.activeTurn === undefined) {
        const calls = await store.listCalls({ chatId: this.chatId });
        if (calls.every(({ status }) => status !== 'cancel_requested')) return;
      }
      if (performance.now() > deadlineMs) {
        throw new Error(`it is wedged: ${open.join(', ')}\n${await describeWorkflows(this)}`);
      }
      await delay(LOOK_MS);
    }
  }

  #openMessages(): string[] {
    const { transcript } = this;
    return this.accepted.flatMap(({ clientMessageId, isDeleted }) => {
      if (isDeleted) return [];
      const turn = transcript.turnOf(clientMessageId);
      if (turn === undefined) return [`${clientMessageId} waits`];
      return transcript.ends.has(turn) ? [] : [`${clientMessageId} is in turn ${turn}`];
    });
  }
}
