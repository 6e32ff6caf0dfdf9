/** Turns with long commands while every worker is replaced three times, as by three deploys one after another. */
import { setTimeout as delay } from 'node:timers/promises';
import { SeededRandom } from '../crash-matrix/seeded-random.ts';
import { Chat } from '../fault-matrix/chat.ts';
import { checkTurn } from '../fault-matrix/check-turn.ts';
import type { Violation } from '../fault-matrix/check-turn.ts';
import { gather } from '../fault-matrix/evidence.ts';
import type { Evidence } from '../fault-matrix/evidence.ts';
import { rollingPlan } from '../fault-matrix/plans.ts';
import { disposeStage, Stage } from '../fault-matrix/stage.ts';

const DEPLOYS = 3;
/** The turns take about as long as two commands, one after the other, of 35 s in the mean. */
const TURN_MS_MEAN = 70_000;
/** Nobody dies here, so only a machine that stands still for long could miss it, or a task that a deploy has lost. */
const TIMINGS = { heartbeatTimeoutMs: 20_000 };

export interface RollingRestartOptions {
  readonly turns: number;
  /** Of each kind. */
  readonly workers: number;
  /** Commands take 10 to 60 s, times this. */
  readonly scale: number;
  readonly seed: number;
  readonly workflowBundle?: string | undefined;
  readonly onProgress?: ((line: string) => void) | undefined;
}

export interface RollingRestart {
  readonly summary: {
    readonly turns: number;
    readonly calls: number;
    /** Workers that were ended by SIGTERM, each after its successor was there. */
    readonly restarts: number;
    readonly doubleRuns: number;
    readonly lost: number;
    readonly turnsInError: number;
    /** Of generateStep: attempts that a deploy has cut off. */
    readonly attemptsSpent: number;
    /** Of generateStep: attempts of which nobody heard, as where a task was in a poll that was closing (docs/temporal-facts.md). */
    readonly attemptsLost: number;
    /** The last failure of each step that was asked for again. */
    readonly spentBy: readonly string[];
    readonly violations: number;
  };
  readonly violations: readonly Violation[];
}

export class RollingRestartDrill {
  readonly #options: RollingRestartOptions;
  readonly #random: SeededRandom;
  #root: string | undefined;
  #stage: Stage | undefined;

  constructor(options: RollingRestartOptions) {
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
  }

  async run(): Promise<RollingRestart> {
    const { workers, workflowBundle, turns } = this.#options;
    const options = { random: this.#random, workers, workflowBundle };
    const stage = await Stage.open(options, (root) => (this.#root = root));
    this.#stage = stage;
    try {
      const names = Array.from({ length: turns }, (_, index) => `r${index + 1}`);
      const chats = await Promise.all(names.map((name) => Chat.open(stage, name, this.#random, TIMINGS)));
      const running = Promise.all(chats.map((chat) => chat.run(rollingPlan(chat.context, this.#options.scale))));
      const restarts = await this.#deploy(stage);
      const evidence = await Promise.all((await running).map(gather));
      return judge(evidence, restarts);
    } finally {
      await stage.close().catch(() => undefined);
      this.dispose();
    }
  }

  async #deploy(stage: Stage): Promise<number> {
    const { scale, onProgress } = this.#options;
    let restarts = 0;
    for (let deploy = 1; deploy <= DEPLOYS; deploy++) {
      // Not a wait for anything: the deploys are spread over the time that the turns take.
      await delay((this.#random.between(50, 100) / 100) * ((TURN_MS_MEAN * scale) / (DEPLOYS + 1)));
      const counts = await Promise.all([stage.replace('execute-worker'), stage.replace('turn-worker')]);
      restarts += counts.reduce((sum, count) => sum + count, 0);
      onProgress?.(`deploy ${deploy} of ${DEPLOYS}: ${restarts} workers replaced so far`);
    }
    return restarts;
  }

  /** Ends everything that was started, and removes the folder. Safe at any moment. */
  dispose(): void {
    if (this.#root === undefined) return;
    disposeStage(this.#root, this.#stage?.agentId);
    this.#root = undefined;
  }
}

function judge(evidence: readonly Evidence[], restarts: number): RollingRestart {
  const violations = evidence.flatMap(checkTurn);
  const spent = evidence.flatMap(({ history }) => history.generated).filter(({ attempts }) => attempts > 1);
  const lost = spent.filter(({ lastFailure }) => /heartbeat timeout/i.test(lastFailure ?? ''));
  const count = (name: string): number => violations.filter(({ checker }) => checker === name).length;
  return {
    violations,
    summary: {
      turns: evidence.length,
      calls: evidence.reduce((sum, { calls }) => sum + calls.length, 0),
      restarts,
      doubleRuns: count('oneRun'),
      lost: count('resultKept') + count('oneResult'),
      turnsInError: evidence.filter(({ end }) => end.state !== 'completed').length,
      attemptsSpent: spent.reduce((sum, { attempts }) => sum + attempts - 1, 0) - lost.length,
      attemptsLost: lost.length,
      spentBy: spent.map(({ lastFailure }) => lastFailure ?? 'no reason known'),
      violations: violations.length,
    },
  };
}
