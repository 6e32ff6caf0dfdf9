/** The daemon dies at one of its own points, with several keys under way. */
import type { CrashPoint } from '../../../agent/crash-points.ts';
import { ask, start } from '../ask.ts';
import { noteEvidence, readJournal } from '../disk-evidence.ts';
import { allReached, keepersLeft } from '../gates.ts';
import type { MatrixKey } from '../matrix-key.ts';
import { openGates, startAll, verifyAll } from './round.ts';
import type { Round, RoundPlan } from './round.ts';

/** As many as the daemon launches side by side; more would only queue. */
const KEYS = 4;
/** Longer than a restart takes; none is waited for, they are killed. */
const LONG_SECONDS = 120;

export function agentDies(point: CrashPoint): RoundPlan {
  return { name: `agent/${point}`, run: (round) => runAt(point, round) };
}

async function runAt(point: CrashPoint, round: Round): Promise<void> {
  const { lane, tally, random } = round;
  const passing = random.between(1, KEYS);
  const keys = await prepare(point, round);
  for (const key of keys) key.died('agent', point);
  if (point === 'in-recovery') {
    await lane.killAgent();
    tally.killed();
    lane.arm(point, passing);
    if (await lane.startAgent()) throw new Error('the agent came up although it was to die in its recovery');
  } else {
    lane.arm(point, passing);
    await provoke(point, round, keys);
    await lane.agentDied();
  }
  lane.disarm();
  tally.killed();
  for (let index = 0; index < keys.length; index++) tally.reached(`agent/${point}`);
  noteEvidence(lane, keys);
  const journal = readJournal(lane);
  await lane.requireAgent();
  // Whose wish to kill is durable ends by itself; the others are asked for again, or they would run for minutes.
  if (point === 'before-kill')
    await cancelAll(
      round,
      keys.filter((key) => !journal.get(key.key)?.hasKillIntent),
      'kill',
    );
  if (point === 'in-recovery') await openGates(lane, keys);
  await verifyAll(round, keys);
  if (!FENCE_POINTS.includes(point)) return;
  // Keepers that were fenced while they stood before their claim: they find it taken.
  await openGates(lane, keys);
  await keepersLeft(lane, keys);
}

const FENCE_POINTS: readonly CrashPoint[] = ['before-fence-claim', 'after-fence-claim'];

/** Brings the keys to where the point can be passed. */
async function prepare(point: CrashPoint, { lane }: Round): Promise<MatrixKey[]> {
  const target = await lane.target();
  const make = (more: Parameters<typeof lane.newKey>[1]): MatrixKey[] =>
    Array.from({ length: KEYS }, () => lane.newKey(target, more));
  if (point === 'before-kill') {
    const keys = make({ sleepSeconds: LONG_SECONDS });
    await startAll(lane, keys);
    await Promise.all(keys.map((key) => start(lane, key, { waitMs: 10_000 })));
    return keys;
  }
  // Open for as long as they stand: pending ones for a fence, ended ones that nobody knows of for a recovery.
  const standAt = FENCE_POINTS.includes(point) ? 'before-claim' : point === 'in-recovery' ? 'before-exit' : undefined;
  if (standAt === undefined) return make({});
  const keys = make({ plan: { point: standAt, action: 'stand' } });
  await startAll(lane, keys);
  await allReached(lane, keys);
  return keys;
}

function provoke(point: CrashPoint, round: Round, keys: readonly MatrixKey[]): Promise<void> {
  if (point === 'before-kill') return cancelAll(round, keys, 'kill');
  if (FENCE_POINTS.includes(point)) return cancelAll(round, keys, 'fence');
  return startAll(round.lane, keys);
}

async function cancelAll({ lane }: Round, keys: readonly MatrixKey[], mode: 'kill' | 'fence'): Promise<void> {
  for (const key of keys) key.isCanceled = true;
  await Promise.all(keys.map((key) => ask(() => lane.client.cancel({ ...key.addressed(), mode, waitMs: 0 }))));
}
