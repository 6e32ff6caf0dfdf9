/** What is done how often on the Temporal side: rounds on one stage, then a last look at every turn there was. */
import { setTimeout as delay } from 'node:timers/promises';
import { SeededRandom } from '../crash-matrix/seeded-random.ts';
import { FaultTally } from './fault-tally.ts';
import { FAULT_NAMES } from './faults.ts';
import type { FaultName } from './faults.ts';
import { atPoints } from './rounds/at-points.ts';
import type { FaultRoundPlan } from './rounds/fault-round.ts';
import { faultsAtOnce, faultsInTurn } from './rounds/made-faults.ts';
import { forgottenRows } from './rounds/forgotten-rows.ts';
import { lateStarts } from './rounds/late-starts.ts';
import { overlaps } from './rounds/overlaps.ts';
import { resets } from './rounds/resets.ts';
import { settles } from './rounds/settles.ts';
import { disposeStage, Stage } from './stage.ts';

/** `short` is what `npm test` runs; each meets every point at least once. */
export const FAULT_SIZES = { short: { cycles: 1 }, quick: { cycles: 2 }, full: { cycles: 6 } } as const;

export interface FaultSweepOptions {
  readonly size: keyof typeof FAULT_SIZES;
  readonly seed: number;
  /** Only rounds of these names. */
  readonly only?: readonly string[] | undefined;
  /** Goes on with cycle after cycle until so much time has passed. */
  readonly minutes?: number | undefined;
  readonly workflowBundle?: string | undefined;
  readonly onProgress?: ((line: string) => void) | undefined;
}

const SIGNALS = FAULT_NAMES.filter((name) => !name.includes('-line/'));
const LINES = FAULT_NAMES.filter((name) => name.includes('-line/'));
/** Each danger has a test of its own beside; here they meet each other, and deaths at named points. */
const SHORT_FAULTS: readonly FaultName[] = [
  'server/SIGKILL',
  'agent/SIGKILL',
  'execute-worker/SIGTERM',
  'temporal-line/cut',
];
/** In the end nobody is told anything any more; what was still on its way has arrived by then. */
const LAST_MS = 2000;
const WORKERS = 2;
const PAIRS = 6;

export class FaultSweep {
  readonly tally = new FaultTally();
  readonly #options: FaultSweepOptions;
  #root: string | undefined;
  #stage: Stage | undefined;
  #chats = 0;

  constructor(options: FaultSweepOptions) {
    this.#options = options;
  }

  /** Rejects when a round could not be done, which is no violation but a sweep that proves nothing. */
  async run(): Promise<void> {
    const { size, seed, minutes, workflowBundle } = this.#options;
    const random = new SeededRandom(seed);
    this.tally.onViolation = (line) => this.#options.onProgress?.(line);
    const endMs = performance.now() + (minutes ?? 0) * 60_000;
    const isDue = (cycle: number): boolean =>
      minutes === undefined ? cycle < FAULT_SIZES[size].cycles : performance.now() < endMs;
    const options = { random, workers: WORKERS, workflowBundle };
    this.#stage = await Stage.open(options, (root) => (this.#root = root));
    try {
      for (let cycle = 0; isDue(cycle); cycle++) {
        for (const plan of this.#plans(random)) {
          if (minutes !== undefined && cycle > 0 && performance.now() > endMs) break;
          await this.#runRound(this.#stage, plan, random);
        }
      }
      await this.#lastLook(this.#stage);
    } finally {
      await this.#stage.close().catch(() => undefined);
      this.dispose();
    }
  }

  /** Ends everything that was started, and removes the folder. Safe at any moment. */
  dispose(): void {
    if (this.#root === undefined) return;
    let agentId;
    try {
      agentId = this.#stage?.agentId;
    } catch {
      // It was never told: there is nothing of the agent's to remove.
    }
    disposeStage(this.#root, agentId);
    this.#root = undefined;
  }

  #plans(random: SeededRandom): FaultRoundPlan[] {
    const { only, size } = this.#options;
    const plans = plansOf(random);
    if (only === undefined) return size === 'short' ? [atPoints(SHORT_FAULTS), settles] : Object.values(plans);
    return only.map((name) => {
      const plan = plans[name];
      if (plan !== undefined) return plan;
      throw new Error(`no round named ${name}; there are ${Object.keys(plans).join(', ')}`);
    });
  }

  async #runRound(stage: Stage, { name, run }: FaultRoundPlan, random: SeededRandom): Promise<void> {
    const beganMs = performance.now();
    const round = { stage, tally: this.tally, random, nextName: () => `c${++this.#chats}` };
    await run(round).catch((error: unknown) => {
      const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
      throw new Error(`the round "${name}" could not be done: ${cause}\n${stage.describe()}`, { cause: error });
    });
    const { kills, turns, violations } = this.tally;
    const seconds = Math.round((performance.now() - beganMs) / 1000);
    this.#options.onProgress?.(
      `temporal/${name} in ${seconds} s: ${kills} kills, ${turns} turns, ${violations.length} violations`,
    );
  }

  /** Everybody dies once more and comes back: what has not begun by then never will. */
  async #lastLook(stage: Stage): Promise<void> {
    await stage.isWhole();
    for (const kind of ['execute-worker', 'turn-worker', 'agent'] as const) await stage.end(kind, 'SIGTERM', 0);
    await stage.isWhole();
    await delay(LAST_MS);
    const lines = stage.readRunLog();
    this.tally.lookAgain((line) => lines.filter((found) => found === line).length);
  }
}

/** Rounds by name, also those that only some sizes have. */
function plansOf(random: SeededRandom): Record<string, FaultRoundPlan> {
  const shuffled = shuffle(SIGNALS, random);
  const half = Math.ceil(shuffled.length / 2);
  const plans = [
    atPoints(),
    settles,
    faultsInTurn('faults-1', shuffled.slice(0, half)),
    lateStarts,
    faultsInTurn('lines', shuffle(LINES, random)),
    resets,
    faultsInTurn('faults-2', shuffled.slice(half)),
    overlaps,
    forgottenRows,
    faultsAtOnce('pairs', PAIRS, FAULT_NAMES),
    faultsInTurn('deploys', ['execute-worker/SIGTERM', 'execute-worker/SIGTERM']),
  ];
  return Object.fromEntries(plans.map((plan) => [plan.name, plan]));
}

function shuffle(names: readonly FaultName[], random: SeededRandom): FaultName[] {
  return names
    .map((name) => ({ name, place: random.next() }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ name }) => name);
}
