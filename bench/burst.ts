/** So many starts at the same moment, and whether the agent still answers others meanwhile. */
import { setTimeout as delay } from 'node:timers/promises';
import { spawnBare, startOne } from './local-ways.ts';
import type { Stage } from './stage.ts';
import { inRounds, summarize } from './statistics.ts';
import type { Figure } from './statistics.ts';

export interface Burst {
  readonly count: number;
  /** From the first start to the last exit. */
  readonly agentMs: Figure;
  /** As many bare spawns at once, likewise. */
  readonly bareMs: Figure;
  /** The slowest answer to a short question during each burst. */
  readonly slowestInfoMs: Figure;
}

const ASK_EVERY_MS = 5;

export async function measureBurst(
  stage: Stage,
  size: { readonly rounds: number; readonly count: number },
): Promise<Burst> {
  const { rounds, count } = size;
  const agentMs: number[] = [];
  const bareMs: number[] = [];
  const slowestInfoMs: number[] = [];
  await inRounds(rounds, [
    async () => {
      const beganMs = performance.now();
      const ended = Promise.all(Array.from({ length: count }, () => startOne(stage)));
      slowestInfoMs.push(await slowestInfoUntil(stage, ended));
      agentMs.push(performance.now() - beganMs);
    },
    async () => {
      bareMs.push(Math.max(...(await spawnBare(stage, { count, isSideBySide: true }))));
    },
  ]);
  return { count, agentMs: summarize(agentMs), bareMs: summarize(bareMs), slowestInfoMs: summarize(slowestInfoMs) };
}

async function slowestInfoUntil({ agentClient }: Stage, ended: Promise<unknown>): Promise<number> {
  const isOver = ended.then(() => true);
  let slowestMs = 0;
  do {
    const beganMs = performance.now();
    await agentClient.info({});
    slowestMs = Math.max(slowestMs, performance.now() - beganMs);
  } while (!(await Promise.race([isOver, delay(ASK_EVERY_MS, false)])));
  return slowestMs;
}
