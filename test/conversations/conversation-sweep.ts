/** Conversations side by side on one stage, whose pieces die meanwhile; each is checked when it is over. */
import { SeededRandom } from '../crash-matrix/seeded-random.ts';
import { disposeStage, Stage } from '../fault-matrix/stage.ts';
import { findPostgresPrograms, startPostgres } from '../fixtures/postgres-cluster.ts';
import type { PostgresCluster } from '../fixtures/postgres-cluster.ts';
import { checkConversation } from './check-conversation.ts';
import type { Violation } from './check-conversation.ts';
import { Conversation } from './conversation.ts';
import type { ACTS_COUNT } from './conversation.ts';
import { killAtRandom } from './kills.ts';
import { ConversationProvider } from './provider.ts';
import { Replays } from './replays.ts';
import { gatherSeen } from './seen.ts';

export interface ConversationSweepOptions {
  readonly seed: number;
  readonly count: number;
  /** No more are begun after so much time. */
  readonly minutes?: number | undefined;
  /** Only these numbers of the seed's conversations. */
  readonly only?: readonly number[] | undefined;
  readonly sideBySide: number;
  /** `short` is what `npm test` runs: less is done in each, and fewer die. */
  readonly size: keyof typeof ACTS_COUNT;
  readonly store: 'sqlite' | 'postgres';
  readonly workflowBundle?: string | undefined;
  readonly onProgress?: ((line: string) => void) | undefined;
}

export interface FoundViolation extends Violation {
  readonly seed: number;
  readonly conversation: number;
  /** What was done, and what a watcher was told. */
  readonly acts: readonly string[];
  readonly events: readonly string[];
}

interface Lane {
  readonly stage: Stage;
  readonly provider: ConversationProvider;
  readonly replays: Replays;
}

/** Of each kind, side by side. */
const WORKERS = { short: 1, full: 2 } as const;
const EVENTS_SHOWN = 400;
const EVENT_CHARACTERS = 300;
const PROGRESS_EACH = 20;
const REPLAYED_TOGETHER = 20;

export class ConversationSweep {
  readonly violations: FoundViolation[] = [];
  conversations = 0;
  kills = 0;
  readonly #options: ConversationSweepOptions;
  #root: string | undefined;
  #stage: Stage | undefined;
  #postgres: PostgresCluster | undefined;

  constructor(options: ConversationSweepOptions) {
    this.#options = options;
  }

  /** Rejects when it could not be done, which is no violation but proves nothing. */
  async run(): Promise<void> {
    const { seed, size, store, workflowBundle } = this.#options;
    const random = new SeededRandom(seed);
    const provider = await ConversationProvider.open();
    const killing = new AbortController();
    try {
      if (store === 'postgres') this.#postgres = await openPostgres();
      const stage = await Stage.open(
        {
          random,
          workers: WORKERS[size],
          workflowBundle,
          storeUrl: this.#postgres?.url('postgres'),
          turnWorkerEnv: { LATCHKEY_MODEL_BASE_URL: provider.baseUrl },
        },
        (root) => (this.#root = root),
      );
      this.#stage = stage;
      const { signal } = killing;
      const onKill = (kills: number): void => void (this.kills += kills);
      const killer = killAtRandom({ stage, random, postgres: this.#postgres, size, onKill, signal });
      // It is awaited below; until then its failure must not end the process.
      killer.catch(() => undefined);
      await this.#runAll(stage, provider);
      killing.abort();
      await killer;
    } finally {
      killing.abort();
      await this.#stage?.close().catch(() => undefined);
      await provider.close();
      await this.#postgres?.stop();
      this.dispose();
    }
  }

  /** Ends everything that was started, and removes the folder. Safe at any moment. */
  dispose(): void {
    if (this.#root === undefined) return;
    disposeStage(this.#root, this.#stage?.agentId);
    this.#root = undefined;
  }

  async #runAll(stage: Stage, provider: ConversationProvider): Promise<void> {
    const { count, minutes, only, sideBySide } = this.#options;
    const endMs = minutes === undefined ? Infinity : performance.now() + minutes * 60_000;
    const numbers = only ?? Array.from({ length: count }, (_, index) => index + 1);
    const replays = new Replays(stage);
    let next = 0;
    const lanes = Array.from({ length: Math.min(sideBySide, numbers.length) }, async () => {
      for (;;) {
        const number = numbers[next++];
        if (number === undefined || performance.now() > endMs) return;
        await this.#runOne({ stage, provider, replays }, number);
      }
    });
    await Promise.all(lanes);
    await this.#replay(replays);
  }

  async #runOne({ stage, provider, replays }: Lane, number: number): Promise<void> {
    const { seed, size, onProgress } = this.#options;
    const conversation = new Conversation(stage, provider, { number, seed, size });
    this.#tell(conversation, await runAndCheck(conversation));
    this.conversations += 1;
    if (this.conversations % PROGRESS_EACH === 0) {
      onProgress?.(`${this.conversations} conversations, ${this.kills} kills, ${this.violations.length} violations`);
    }
    provider.forget(
      conversation.name,
      conversation.accepted.map(({ text }) => text),
    );
    await replays.add(conversation);
    if (replays.waiting >= REPLAYED_TOGETHER) await this.#replay(replays);
  }

  async #replay(replays: Replays): Promise<void> {
    for (const { conversation, texts } of await replays.replay()) {
      this.#tell(
        conversation,
        texts.map((text) => ({ checker: 'replays', text })),
      );
    }
  }

  #tell(conversation: Conversation, found: readonly Violation[]): void {
    if (found.length === 0) return;
    const { seed, onProgress } = this.#options;
    const { acts, transcript, number } = conversation;
    const events = transcript.events
      .map((event) => JSON.stringify(event).slice(0, EVENT_CHARACTERS))
      .slice(-EVENTS_SHOWN);
    this.violations.push(...found.map((violation) => ({ seed, conversation: number, ...violation, acts, events })));
    onProgress?.(`conversation ${number}: ${found.map(({ checker, text }) => `${checker}: ${text}`).join('; ')}`);
  }
}

async function runAndCheck(conversation: Conversation): Promise<Violation[]> {
  try {
    await conversation.run();
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
    return [{ checker: 'live', text: `${String(error)}${cause}` }];
  }
  return checkConversation(await gatherSeen(conversation));
}

async function openPostgres(): Promise<PostgresCluster> {
  const programs = findPostgresPrograms();
  if (programs === undefined) throw new Error('no PostgreSQL programs are installed: leave --store postgres out');
  return startPostgres(programs);
}
