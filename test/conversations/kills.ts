/** Who dies while the conversations go on, each by SIGKILL and at a moment of the seed's choice. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '../crash-matrix/seeded-random.ts';
import type { PostgresCluster } from '../fixtures/postgres-cluster.ts';
import type { PieceKind, Stage } from '../fault-matrix/stage.ts';

/** A start takes seconds of a small machine's processors, in which no conversation gets on. */
const BETWEEN_MS = { short: { low: 2000, high: 8000 }, full: { low: 500, high: 6000 } } as const;
const DOWN_MS_MAX = 800;

export interface KillOptions {
  readonly stage: Stage;
  readonly random: SeededRandom;
  /** Where the store is one of our own. */
  readonly postgres?: PostgresCluster | undefined;
  readonly size: keyof typeof BETWEEN_MS;
  readonly onKill: (kills: number) => void;
}

/** Until `signal` aborts; then everybody is there again. */
export async function killAtRandom({
  stage,
  random,
  postgres,
  size,
  onKill,
  signal,
}: KillOptions & { signal: AbortSignal }): Promise<void> {
  const allDie = (kind: PieceKind) => () => stage.end(kind, 'SIGKILL', random.between(0, DOWN_MS_MAX));
  const oneDies = (kind: PieceKind) => async () => {
    const living = stage.pieces(kind);
    return living.length > 0 && random.pick(living).signal('SIGKILL') ? 1 : 0;
  };
  const kills: (() => Promise<number>)[] = [
    ...Array.from({ length: 4 }, () => oneDies('turn-worker')),
    ...Array.from({ length: 4 }, () => oneDies('execute-worker')),
    ...Array.from({ length: 3 }, () => oneDies('agent')),
    allDie('turn-worker'),
    allDie('execute-worker'),
    allDie('agent'),
    async () => {
      await stage.endServer('SIGKILL', random.between(0, DOWN_MS_MAX));
      return 1;
    },
    ...(postgres === undefined
      ? []
      : Array.from({ length: 3 }, () => async () => {
          await postgres.restart();
          return 1;
        })),
  ];
  while (!signal.aborted) {
    await delay(random.between(BETWEEN_MS[size].low, BETWEEN_MS[size].high), undefined, { signal }).catch(
      () => undefined,
    );
    if (signal.aborted) break;
    onKill(await random.pick(kills)());
  }
  await stage.isWhole();
}
