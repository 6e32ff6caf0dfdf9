/** What is done how often: two lanes side by side, each a list of rounds, then a last look at every key there was. */
import type { CrashPoint } from '../../agent/crash-points.ts';
import { CRASH_POINTS } from '../../agent/crash-points.ts';
import { Lane } from './lane.ts';
import { agentDies } from './rounds/agent-dies.ts';
import {
  agentDiesAndKeepersGoOn,
  agentDiesAndKeepersWait,
  bothDie,
  machineDies,
  STANDING_HALVES,
} from './rounds/dies-while-standing.ts';
import { pidReused, rowDeleted } from './rounds/disk-damage.ts';
import { keepersDie } from './rounds/keeper-dies.ts';
import { randomDeaths } from './rounds/random-deaths.ts';
import type { RoundPlan } from './rounds/round.ts';
import { SeededRandom } from './seeded-random.ts';
import { Tally } from './tally.ts';
import { verifyForEver } from './verify-key.ts';
import { findLeftovers } from './verify-lane.ts';

/** `short` is what `npm test` runs; each meets every point at least once. */
export const SIZES = {
  short: { times: 1, random: 2 },
  quick: { times: 4, random: 24 },
  full: { times: 10, random: 200 },
} as const;

export interface SweepOptions {
  readonly size: keyof typeof SIZES;
  readonly seed: number;
  /** Only rounds of these names. */
  readonly only?: readonly string[] | undefined;
  readonly onProgress?: ((line: string) => void) | undefined;
}

export class Sweep {
  readonly tally = new Tally();
  readonly #options: SweepOptions;
  readonly #lanes: Lane[] = [];
  #done = 0;
  #planned = 0;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  get keyCount(): number {
    return this.#lanes.reduce((sum, lane) => sum + lane.keys.length, 0);
  }

  /** Rejects when a round could not be done, which is no violation but a matrix that proves nothing. */
  async run(): Promise<void> {
    const { only } = this.#options;
    const lanes = planLanes(SIZES[this.#options.size]);
    const names = new Set(lanes.flat().map(({ name }) => name));
    const unknown = only?.filter((name) => !names.has(name)) ?? [];
    if (unknown.length > 0)
      throw new Error(`no rounds named ${unknown.join(', ')}; there are ${[...names].join(', ')}`);
    const plans = lanes
      .map((plan) => plan.filter(({ name }) => only === undefined || only.includes(name)))
      .filter((plan) => plan.length > 0);
    this.#planned = plans.flat().length;
    try {
      await Promise.all(plans.map((plan, index) => this.#runLane(plan, index)));
    } finally {
      this.dispose();
    }
  }

  /** Ends everything that was started, and removes the folders. Safe at any moment. */
  dispose(): void {
    for (const lane of this.#lanes) lane.dispose();
  }

  async #runLane(plan: readonly RoundPlan[], index: number): Promise<void> {
    const lane = new Lane();
    this.#lanes.push(lane);
    const round = { lane, tally: this.tally, random: new SeededRandom(this.#options.seed * 2 + index) };
    await lane.requireAgent();
    for (const { name, run } of plan) {
      await run(round).catch((error: unknown) => {
        throw new Error(`the round "${name}" could not be done: ${String(error)}\n${lane.log}`, { cause: error });
      });
      this.#done += 1;
      const { kills, violations } = this.tally;
      this.#options.onProgress?.(
        `${this.#done}/${this.#planned} ${name}: ${kills} kills, ${violations.length} violations`,
      );
    }
    await this.#lastLook(lane);
  }

  /** After one more restart: every key of the lane is asked for again. */
  async #lastLook(lane: Lane): Promise<void> {
    await lane.killAgent();
    await lane.requireAgent();
    const found = await Promise.all(lane.keys.map((key) => verifyForEver(lane, key)));
    this.tally.violations.push(...found.flat(), ...(await findLeftovers(lane)));
    await lane.stopAgent();
  }
}

function planLanes({ times, random }: { readonly times: number; readonly random: number }): RoundPlan[][] {
  const repeated = (count: number, plans: readonly RoundPlan[]): RoundPlan[] =>
    Array.from({ length: count }, () => plans).flat();
  const half = repeated(Math.ceil(random / 2), [randomDeaths]);
  const points = Object.keys(CRASH_POINTS) as CrashPoint[];
  // Those that leave readers dead come first: half a minute later their outputs are looked at without a wait.
  const whileStanding = [machineDies, bothDie, agentDiesAndKeepersGoOn, agentDiesAndKeepersWait].flatMap((dies) =>
    STANDING_HALVES.map(dies),
  );
  return [
    [...half, ...repeated(times, points.map(agentDies))],
    [...half, ...repeated(times, [keepersDie, ...whileStanding, rowDeleted, pidReused])],
  ];
}
