/** Daemon, both, or the machine die while keepers stand at their points. */
import { rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { KeeperPoint } from '../../../agent/crash-points.ts';
import { KEEPER_POINTS } from '../../../agent/crash-points.ts';
import { probe } from '../ask.ts';
import { attemptFolder, noteEvidence, readJournal } from '../disk-evidence.ts';
import { allReached, keepersLeft, killKeeper, killStanding } from '../gates.ts';
import type { MatrixKey } from '../matrix-key.ts';
import { isChildPoint, isReaderPoint } from './keeper-dies.ts';
import { openGates, startAll, verifyAll } from './round.ts';
import type { Round, RoundPlan } from './round.ts';

/** A keeper that stands before `started` takes one of the daemon's four launch slots, so half of the points at a time. */
export const STANDING_HALVES: readonly (readonly KeeperPoint[])[] = [0, 1].map((half) =>
  (Object.keys(KEEPER_POINTS) as KeeperPoint[]).filter((_, index) => index % 2 === half),
);

async function stand({ lane }: Round, points: readonly KeeperPoint[]): Promise<MatrixKey[]> {
  const target = await lane.target();
  const keys = points.map((point) => lane.newKey(target, { plan: { point, action: 'stand' } }));
  await startAll(lane, keys);
  await allReached(lane, keys);
  return keys;
}

function tell({ tally }: Round, keys: readonly MatrixKey[], who: string): void {
  for (const key of keys) {
    key.died(who, key.plan?.point ?? 'anywhere');
    if (key.plan !== undefined) tally.reached(`keeper/${key.plan.point}`);
  }
}

/** The keepers go on while no daemon is there. */
export function agentDiesAndKeepersGoOn(points: readonly KeeperPoint[]): RoundPlan {
  return {
    name: 'agent-dies-keepers-go-on',
    run: async (round) => {
      const { lane, tally } = round;
      const keys = await stand(round, points);
      await lane.killAgent();
      tally.killed();
      tell(round, keys, 'agent');
      noteEvidence(lane, keys);
      await openGates(lane, keys);
      await keepersLeft(lane, keys);
      await lane.requireAgent();
      await verifyAll(round, keys);
    },
  };
}

/** The next daemon decides while they stand: what it calls void is started again before the late keeper goes on. */
export function agentDiesAndKeepersWait(points: readonly KeeperPoint[]): RoundPlan {
  return {
    name: 'agent-dies-keepers-wait',
    run: async (round) => {
      const { lane, tally } = round;
      const keys = await stand(round, points);
      await lane.killAgent();
      tally.killed();
      tell(round, keys, 'agent');
      noteEvidence(lane, keys);
      await lane.requireAgent();
      const words = await Promise.all(keys.map((key) => probe(lane, key)));
      const isVoid = (_: MatrixKey, index: number): boolean => words[index]?.state === 'void';
      await verifyAll(round, keys.filter(isVoid));
      await openGates(lane, keys);
      await keepersLeft(lane, keys);
      await verifyAll(
        round,
        keys.filter((key, index) => !isVoid(key, index)),
      );
      for (const key of keys.filter(isVoid)) {
        const runs = lane.countRuns(key);
        if (runs === key.settled?.runs) continue;
        tally.violations.push(`${key.key} was void, then its late keeper went on: ${runs} runs`);
      }
    },
  };
}

/** The daemon first, then every keeper, and of the children at their points every other one. */
export function bothDie(points: readonly KeeperPoint[]): RoundPlan {
  return {
    name: 'agent-and-keepers',
    run: async (round) => {
      const { lane, tally, random } = round;
      const keys = await stand(round, points);
      await lane.killAgent();
      tally.killed();
      for (const key of keys) killBelow(round, key, random.chance(0.5));
      noteEvidence(lane, keys);
      await openGates(lane, keys);
      await lane.requireAgent();
      await verifyAll(round, keys);
    },
  };
}

/** The keeper, where it has not left already, and perhaps who stands below it. */
function killBelow({ lane, tally }: Round, key: MatrixKey, isChosen: boolean): void {
  const point = key.plan?.point ?? 'before-claim';
  const victims = ['agent'];
  if (killKeeper(lane, key)) victims.push('keeper');
  if (isChosen && isChildPoint(point) && killStanding(lane, key)) victims.push('child');
  if (isChosen && isReaderPoint(point) && killStanding(lane, key)) victims.push('reader');
  tally.killed(victims.length - 1);
  tally.reached(`keeper/${point}`);
  key.died(victims.join(', '), point);
  key.isDaemonOnly = !victims.includes('keeper') && !victims.includes('child');
  key.isChildKilled = victims.includes('child');
  key.isReaderKilled = victims.includes('reader');
}

/** Nothing of an attempt's folder is fsynced, so a power cut may take any of it; the journal's rows stay (K3). */
const UNSYNCED = ['claim', 'started', 'exit', 'drained', 'alive'];

export function machineDies(points: readonly KeeperPoint[]): RoundPlan {
  return {
    name: 'machine',
    run: async (round) => {
      const { lane, tally, random } = round;
      const keys = await stand(round, points);
      await lane.killMachine();
      tally.killed();
      tell(round, keys, 'machine');
      const journal = readJournal(lane);
      for (const key of keys) {
        key.isDaemonOnly = false;
        // What of the output was written but not synced may be gone as well; the reader's death stands for it.
        key.isReaderKilled = true;
        const row = journal.get(key.key);
        if (row === undefined || random.chance(0.5)) continue;
        const path = join(attemptFolder(lane, row), random.pick(UNSYNCED));
        if (random.chance(0.5)) rmSync(path, { force: true });
        else tear(path);
      }
      noteEvidence(lane, keys);
      await lane.requireAgent();
      await verifyAll(round, keys);
    },
  };
}

function tear(path: string): void {
  try {
    truncateSync(path, 1);
  } catch {
    // Not there yet, or the FIFO, which can't be torn.
  }
}
