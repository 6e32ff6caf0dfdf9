/** Keepers, children and readers die by themselves at each of their points, while the daemon lives. */
import type { KeeperPoint } from '../../../agent/crash-points.ts';
import { KEEPER_POINTS } from '../../../agent/crash-points.ts';
import { noteEvidence } from '../disk-evidence.ts';
import { hasDied } from '../gates.ts';
import type { KeeperAction } from '../matrix-key.ts';
import { awaitDecision } from '../ask.ts';
import { startAll, verifyAll } from './round.ts';
import type { Round, RoundPlan } from './round.ts';

export function isReaderPoint(point: KeeperPoint): boolean {
  return point.startsWith('reader-') && point !== 'reader-forked';
}

export function isChildPoint(point: KeeperPoint): boolean {
  return point === 'before-started' || point === 'after-started';
}

const ALL_POINTS = Object.keys(KEEPER_POINTS) as KeeperPoint[];

interface Death {
  readonly who: string;
  readonly action: KeeperAction;
  readonly points: readonly KeeperPoint[];
  /** What the files prove then (D03); undefined where keeper and reader race. */
  readonly proves?: 'void' | 'lost' | 'exited';
}

const DEATHS: readonly Death[] = [
  {
    who: 'keeper',
    action: 'keeper',
    points: ['before-fifos', 'before-hold', 'before-claim', 'after-claim', 'reader-forked'],
    proves: 'void',
  },
  // The child goes on without its keeper, and runs: nobody is left to learn its exit code.
  {
    who: 'keeper',
    action: 'keeper',
    points: ['before-started', 'after-started', 'command-ended', 'before-exit'],
    proves: 'lost',
  },
  { who: 'keeper', action: 'keeper', points: ['after-exit'], proves: 'exited' },
  { who: 'keeper', action: 'keeper', points: ALL_POINTS.filter(isReaderPoint) },
  { who: 'child', action: 'self', points: ['before-started'], proves: 'void' },
  { who: 'child', action: 'self', points: ['after-started'], proves: 'exited' },
  { who: 'keeper and child', action: 'both', points: ['before-started'], proves: 'void' },
  { who: 'keeper and child', action: 'both', points: ['after-started'], proves: 'lost' },
  { who: 'keeper, torn write', action: 'torn', points: ['before-claim'], proves: 'void' },
  { who: 'child, torn write', action: 'torn', points: ['before-started'], proves: 'void' },
  { who: 'keeper, torn write', action: 'torn', points: ['before-exit'], proves: 'lost' },
  { who: 'reader', action: 'self', points: ALL_POINTS.filter(isReaderPoint), proves: 'exited' },
  { who: 'keeper and reader', action: 'both', points: ALL_POINTS.filter(isReaderPoint) },
];

/** All of them, one key each: nothing is restarted, so this costs little. */
export const keepersDie: RoundPlan = { name: 'keepers', run };

async function run(round: Round): Promise<void> {
  const { lane, tally } = round;
  const target = await lane.target();
  const victims = DEATHS.flatMap(({ who, action, points, proves }) =>
    points.map((point) => {
      const key = lane.newKey(target, { plan: { point, action } });
      key.died(who, point);
      key.isDaemonOnly = false;
      key.isReaderKilled = isReaderPoint(point) && action !== 'keeper';
      key.isChildKilled = isChildPoint(point) && action !== 'keeper';
      return { key, proves };
    }),
  );
  const keys = victims.map(({ key }) => key);
  await startAll(lane, keys);
  for (const { key, proves } of victims) {
    const { state } = await awaitDecision(lane, key);
    await hasDied(lane, key);
    tally.killed();
    tally.reached(`keeper/${key.where}`);
    if (proves === undefined || state === proves) continue;
    tally.violations.push(`${key.key} is called ${state}; ${key.who} died at ${key.where}, which proves ${proves}`);
  }
  noteEvidence(lane, keys);
  await verifyAll(round, keys);
}
