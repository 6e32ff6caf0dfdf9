/** One chat of the sweep: starts its turns one after another, does to them what a person would, waits for their ends. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TurnHandle } from '../../client/start-turn.ts';
import { startTurn } from '../../client/start-turn.ts';
import { parseChatId } from '../../contract/ids.ts';
import type { ChatId } from '../../contract/ids.ts';
import { INTERRUPT_UPDATE, turnWorkflowId } from '../../contract/names.ts';
import type { InterruptAnswer, InterruptRequest } from '../../contract/operator.ts';
import type { TurnInput, TurnResult, TurnTimings } from '../../contract/turn.ts';
import type { SeededRandom } from '../crash-matrix/seeded-random.ts';
import { waitUntil } from '../fixtures/wait-until.ts';
import type { PlanContext, TurnPlan } from './plans.ts';
import type { Stage } from './stage.ts';
import { HEARTBEAT_TIMEOUT_MS } from './stage.ts';
import { Watcher } from './watcher.ts';

/** A turn that has not ended by then is wedged: far past every time-out that a round's faults may cost it. */
export const WEDGED_AFTER_MS = 240_000;
const SETTLED_MS_MAX = 120_000;
const RETRY_MS = 300;
const HURRY_MS_MAX = 3000;

const TIMINGS: TurnTimings = { heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS, interruptGraceMs: 6000 };

export interface StartedTurn {
  readonly chat: Chat;
  readonly turn: number;
  readonly plan: TurnPlan;
  readonly handle: TurnHandle;
  /** What was the matter when the wait for its end was given up. */
  wedged?: string;
}

export class Chat {
  readonly chatId: ChatId;
  readonly turns: StartedTurn[] = [];
  readonly stage: Stage;
  readonly random: SeededRandom;
  readonly watcher: Watcher;
  readonly #name: string;
  readonly #timings: TurnTimings;

  private constructor(stage: Stage, name: string, random: SeededRandom, timings: TurnTimings) {
    this.stage = stage;
    this.#name = name;
    this.random = random;
    this.#timings = { ...TIMINGS, ...timings };
    this.chatId = parseChatId(`${name}-${randomUUID().slice(0, 8)}`);
    this.watcher = new Watcher(stage.store, this.chatId);
  }

  static async open(stage: Stage, name: string, random: SeededRandom, timings: TurnTimings = {}): Promise<Chat> {
    const chat = new Chat(stage, name, random, timings);
    await stage.store.createChat({ chatId: chat.chatId, agentId: stage.agentId });
    return chat;
  }

  /** For the plan of the next turn. */
  get context(): PlanContext {
    const { runLog, root } = this.stage;
    return { prefix: `${this.#name}-${this.turns.length + 1}`, runLog, root, random: this.random };
  }

  /** Starts the turn and does its act; returns when it has ended, or is called wedged. */
  async run(plan: TurnPlan): Promise<StartedTurn> {
    const started = await this.start(plan);
    const acting = this.#act(started).catch((error: unknown) => (started.wedged ??= String(error)));
    await this.ended(started);
    await acting;
    return started;
  }

  async start(plan: TurnPlan): Promise<StartedTurn> {
    const { store, root, client, turnQueue, agentId } = this.stage;
    const { chatId } = this;
    const script = join(root, `${chatId}-${this.turns.length + 1}.json`);
    writeFileSync(script, JSON.stringify({ steps: plan.steps, delayMs: plan.delayMs ?? 0 }));
    const userText = `message ${this.turns.length + 1}`;
    await store.enqueueUserMessage({ chatId, clientMessageId: userText.replace(' ', '-'), text: userText });
    const turn = await store.reserveNextTurn(chatId);
    this.watcher.follow(turn, plan);
    const input = { chatId, turn, agentId, model: `scripted:${script}`, timings: this.#timings };
    const handle: TurnHandle = await insist(`turn ${turn} of ${chatId} is started`, async () => {
      try {
        return await startTurn(client, { taskQueue: turnQueue, userText, input });
      } catch (error) {
        // The answer to an earlier try was lost with its server.
        if ((error as Error).name !== 'WorkflowExecutionAlreadyStartedError') throw error;
        return client.workflow.getHandle<(given: TurnInput) => Promise<TurnResult>>(turnWorkflowId(chatId, turn));
      }
    });
    const started = { chat: this, turn, plan, handle };
    this.turns.push(started);
    return started;
  }

  /** By the store's word, then by Temporal's. */
  async ended(started: StartedTurn): Promise<void> {
    const { store } = this.stage;
    const { turn, handle } = started;
    try {
      await waitUntil(
        `turn ${turn} of ${this.chatId} (${started.plan.kind}) has ended`,
        async () => {
          await this.watcher.look();
          const row = await store.findTurn({ chatId: this.chatId, turn });
          return row !== undefined && row.state !== 'active';
        },
        { deadlineMs: WEDGED_AFTER_MS },
      );
      await insist(`turn ${turn} of ${this.chatId} is closed`, async () => {
        const { status } = await handle.describe();
        if (status.name === 'RUNNING') throw new Error(`its workflow is ${status.name}`);
      });
      await waitUntil(
        `the settles of turn ${turn} of ${this.chatId} have ended`,
        async () => {
          const calls = await store.listCalls({ chatId: this.chatId, turn });
          return calls.every(({ status }) => status !== 'cancel_requested');
        },
        { deadlineMs: SETTLED_MS_MAX },
      );
    } catch (error) {
      started.wedged = `${String(error)}\n${await this.#describe(started)}`;
      await handle.terminate('wedged').catch(() => undefined);
    }
  }

  async #act(started: StartedTurn): Promise<void> {
    const { act } = started.plan;
    if (act === undefined) return;
    if (act.whenRuns === undefined) await delay(this.random.between(0, HURRY_MS_MAX));
    else await this.#untilRun(started, act.whenRuns);
    if (act.what === 'terminate') {
      await insist('it is terminated', () => unlessClosed(started, () => started.handle.terminate('by a person')));
    } else await this.interrupt(started);
  }

  /** By the update or by a cancel of the workflow, which mean the same. */
  async interrupt(started: StartedTurn): Promise<void> {
    const { handle } = started;
    const isCancel = this.random.chance(0.3);
    const updateId = randomUUID();
    const ask = async (): Promise<unknown> => {
      if (isCancel) return handle.cancel();
      const options = { args: [{ who: 'the sweep' }] as [InterruptRequest], updateId };
      return handle.executeUpdate<InterruptAnswer, [InterruptRequest]>(INTERRUPT_UPDATE, options);
    };
    await insist('it is interrupted', () => unlessClosed(started, ask));
  }

  /** One that can't be dispatched, such as over a line that is cut, has its result and never runs. */
  async #untilRun(started: StartedTurn, label: string): Promise<void> {
    const { store } = this.stage;
    const { chatId } = this;
    const { turn, plan } = started;
    await waitUntil(
      `turn ${turn} of ${chatId} (${plan.kind}) has come to where it is to be stopped`,
      async () => {
        if (this.stage.readRunLog().includes(`begin ${label}`)) return true;
        const calls = await store.listCalls({ chatId, turn });
        if (calls.some(({ toolCallId, result }) => toolCallId === label && result !== undefined)) return true;
        const row = await store.findTurn({ chatId, turn });
        return row !== undefined && row.state !== 'active';
      },
      { deadlineMs: WEDGED_AFTER_MS },
    );
  }

  async #describe({ turn, handle }: StartedTurn): Promise<string> {
    const calls = await this.stage.store.listCalls({ chatId: this.chatId, turn });
    const rows = calls.map(({ key, status, evidence }) => `${key} ${status} ${evidence?.code ?? ''}`);
    const pending = await handle
      .describe()
      .then(({ raw }) =>
        (raw.pendingActivities ?? []).map(
          ({ activityId, activityType, attempt, lastFailure }) =>
            `${activityType?.name} ${activityId} attempt ${attempt}: ${lastFailure?.message ?? ''}`,
        ),
      )
      .catch(String);
    return JSON.stringify({ rows, pending }, undefined, 1);
  }
}

/** While the server is away every question fails: asked again until it is answered. */
export async function insist<Value>(what: string, ask: () => Promise<Value>): Promise<Value> {
  const deadlineMs = performance.now() + WEDGED_AFTER_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > deadlineMs) {
        throw new Error(`timed out waiting until ${what}: ${String(error)} (${String((error as Error).cause)})`, {
          cause: error,
        });
      }
    }
    await delay(RETRY_MS);
  }
}

/** Who comes too late has nothing to stop. */
async function unlessClosed({ handle }: StartedTurn, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    const { status } = await handle.describe();
    if (status.name === 'RUNNING') throw error;
  }
}
