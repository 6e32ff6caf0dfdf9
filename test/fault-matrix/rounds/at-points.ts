/** A worker dies at each named point that turns of all kinds pass. */
import { FAULT_POINTS } from '../../../activities/fault-points.ts';
import type { FaultPoint } from '../../../activities/fault-points.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';
import type { PlanKind } from '../plans.ts';
import { backgroundPlan, signalPlan } from '../plans.ts';
import type { Chat } from '../chat.ts';
import { saysNothingRan } from '../evidence.ts';
import type { FaultName } from '../faults.ts';
import { lookAt, makeFault, openChat, underTurns } from './fault-round.ts';
import type { FaultRound, FaultRoundPlan } from './fault-round.ts';
import { TRUTH_POINTS } from './settles.ts';

const KINDS: readonly PlanKind[] = ['plain', 'slow', 'interrupted', 'held', 'refused', 'terminated', 'interrupted'];
const REACHED_MS_MAX = 150_000;
const BEGUN_MS_MAX = 30_000;
const START_TRIES_MAX = 5;

const POINTS = (Object.keys(FAULT_POINTS) as FaultPoint[]).filter((point) => !TRUTH_POINTS.includes(point));

/** Meanwhile these faults are made, one after another. */
export function atPoints(faults: readonly FaultName[] = []): FaultRoundPlan {
  return { name: 'points', run: (round) => dieAt(round, POINTS, faults) };
}

/** The turns go on until somebody has died at each of the points. */
async function dieAt(round: FaultRound, points: readonly FaultPoint[], faults: readonly FaultName[]): Promise<void> {
  const { stage, tally } = round;
  stage.arms.arm(points);
  try {
    await underTurns(round, KINDS, async () => {
      const signalled = points.includes('signal-before-report') ? signalOnce(round) : undefined;
      await Promise.all([signalled, makeFaults(round, faults).then(() => allAreReached(round))]);
    });
  } finally {
    const waiting = stage.arms.waiting();
    for (const point of points) if (!waiting.includes(point)) tally.reached(point);
    stage.arms.disarm();
  }
}

async function makeFaults(round: FaultRound, faults: readonly FaultName[]): Promise<void> {
  for (const fault of faults) await makeFault(round, fault);
}

async function allAreReached({ stage }: FaultRound): Promise<void> {
  await waitUntil('somebody has died at each armed point', () => stage.arms.waiting().length === 0, {
    deadlineMs: REACHED_MS_MAX,
    describe: () => ({ waiting: stage.arms.waiting() }),
  });
}

/** One chat with a background process, which is sent a signal by its handle. */
async function signalOnce(round: FaultRound): Promise<void> {
  const chat = await openChat(round);
  const handle = await startInBackground(chat);
  if (handle !== undefined) await chat.run(signalPlan(chat.context, handle));
  await lookAt(round, [chat]);
}

/**
 * Its handle; undefined when its turn is wedged, which the look at the chat tells. A call whose agent could not be asked
 * in time never runs (E10), and is asked for again by another turn, as a person would.
 */
async function startInBackground(chat: Chat): Promise<string | undefined> {
  const { stage, chatId } = chat;
  for (let tries = 1; tries <= START_TRIES_MAX; tries++) {
    const plan = backgroundPlan(chat.context);
    const { turn, wedged } = await chat.run(plan);
    if (wedged !== undefined) return undefined;
    const [call] = await stage.store.listCalls({ chatId, turn });
    if (call !== undefined && saysNothingRan(call)) continue;
    if (call?.handle === undefined) {
      const end = await stage.store.findTurn({ chatId, turn });
      throw new Error(`a background call has no handle: ${JSON.stringify({ call, end })}`);
    }
    const [label = ''] = plan.calls.map((planned) => planned.label);
    await waitUntil(`${label} has begun`, () => stage.readRunLog().includes(`begin ${label}`), {
      deadlineMs: BEGUN_MS_MAX,
      describe: () => ({ call }),
    });
    return call.handle;
  }
  throw new Error(`${START_TRIES_MAX} turns could not dispatch a background command`);
}
