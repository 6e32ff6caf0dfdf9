/** A worker dies at each named point that turns of all kinds pass. */
import { FAULT_POINTS } from '../../../activities/fault-points.ts';
import type { FaultPoint } from '../../../activities/fault-points.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';
import type { PlanKind } from '../plans.ts';
import { backgroundPlan, signalPlan } from '../plans.ts';
import type { Chat } from '../chat.ts';
import type { FaultName } from '../faults.ts';
import { lookAt, makeFault, openChat, underTurns } from './fault-round.ts';
import type { FaultRound, FaultRoundPlan } from './fault-round.ts';
import { TRUTH_POINTS } from './settles.ts';

const KINDS: readonly PlanKind[] = ['plain', 'slow', 'interrupted', 'held', 'refused', 'terminated', 'interrupted'];
const REACHED_MS_MAX = 150_000;

const POINTS = (Object.keys(FAULT_POINTS) as FaultPoint[]).filter((point) => !TRUTH_POINTS.includes(point));

/** Meanwhile these faults are made, one after another. */
export function atPoints(faults: readonly FaultName[] = []): FaultRoundPlan {
  return { name: 'points', run: (round) => dieAt(round, POINTS, faults) };
}

/** The turns go on until somebody has died at each of the points. */
async function dieAt(round: FaultRound, points: readonly FaultPoint[], faults: readonly FaultName[]): Promise<void> {
  const { stage, tally } = round;
  stage.arms.arm(points);
  const signalled = points.includes('signal-before-report') ? signalOnce(round) : Promise.resolve();
  try {
    await underTurns(round, KINDS, async () => {
      for (const fault of faults) await makeFault(round, fault);
      await waitUntil('somebody has died at each armed point', () => stage.arms.waiting().length === 0, {
        deadlineMs: REACHED_MS_MAX,
        describe: () => ({ waiting: stage.arms.waiting() }),
      });
    });
    await signalled;
  } finally {
    const waiting = stage.arms.waiting();
    for (const point of points) if (!waiting.includes(point)) tally.reached(point);
    stage.arms.disarm();
  }
}

/** One chat with a background process, which is sent a signal by its handle. */
async function signalOnce(round: FaultRound): Promise<void> {
  const chat = await openChat(round);
  const plan = backgroundPlan(chat.context);
  const { turn } = await chat.run(plan);
  const [label = ''] = plan.calls.map((call) => call.label);
  await waitUntil(`${label} has begun`, () => chat.stage.readRunLog().includes(`begin ${label}`), {
    deadlineMs: 30_000,
  });
  await chat.run(signalPlan(chat.context, await handleOf(chat, turn)));
  await lookAt(round, [chat]);
}

async function handleOf(chat: Chat, turn: number): Promise<string> {
  const [call] = await chat.stage.store.listCalls({ chatId: chat.chatId, turn });
  if (call?.handle === undefined) throw new Error(`a background call has no handle: ${JSON.stringify(call)}`);
  return call.handle;
}
