/** An agent that is silent while turns are interrupted: they end without it, and settles record the truth when it is back. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultPoint } from '../../../activities/fault-points.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';
import type { Chat, StartedTurn } from '../chat.ts';
import { PLANS } from '../plans.ts';
import { lookAt, openChat } from './fault-round.ts';
import type { FaultRound, FaultRoundPlan } from './fault-round.ts';

export const TRUTH_POINTS: readonly FaultPoint[] = ['truth-before-record', 'truth-after-record'];

const CHATS = 3;
const INTERRUPT_GRACE_MS = 1500;
const WAIT_MS_MAX = 90_000;
const SILENT_MS_MAX = 1500;

export const settles: FaultRoundPlan = { name: 'settles', run };

async function run(round: FaultRound): Promise<void> {
  const { stage, tally, random } = round;
  const timings = { interruptGraceMs: INTERRUPT_GRACE_MS };
  const chats = await Promise.all(Array.from({ length: CHATS }, () => openChat(round, timings)));
  const turns = await Promise.all(chats.map((chat) => beginStopped(chat)));
  const [agent] = stage.pieces('agent');
  if (agent === undefined) throw new Error('the agent is not there');
  agent.signal('SIGSTOP');
  try {
    await Promise.all(turns.map((turn) => turn.chat.interrupt(turn)));
    await waitUntil('the interrupted turns have ended without their agent', () => haveEnded(turns), {
      deadlineMs: WAIT_MS_MAX,
      describe: () => stage.describe(),
    });
    stage.arms.arm(TRUTH_POINTS);
    await delay(random.between(0, SILENT_MS_MAX));
  } finally {
    agent.signal('SIGCONT');
  }
  if (random.chance(0.5)) tally.done('agent/SIGKILL', await stage.end('agent', 'SIGKILL', 0));
  await Promise.all(turns.map((turn) => turn.chat.ended(turn)));
  const waiting = stage.arms.waiting();
  stage.arms.disarm();
  for (const point of TRUTH_POINTS) if (!waiting.includes(point)) tally.reached(point);
  await lookAt(round, chats);
  if (waiting.length > 0) throw new Error(`nobody has died at ${waiting.join(', ')}`);
}

/** A turn whose command runs, and that nobody has stopped yet. */
async function beginStopped(chat: Chat): Promise<StartedTurn> {
  const plan = PLANS.interrupted(chat.context);
  const started = await chat.start(plan);
  const label = plan.act?.whenRuns ?? '';
  await waitUntil(`${label} runs`, () => chat.stage.readRunLog().includes(`begin ${label}`), {
    deadlineMs: WAIT_MS_MAX,
    describe: () => chat.stage.describe(),
  });
  return started;
}

async function haveEnded(turns: readonly StartedTurn[]): Promise<boolean> {
  const rows = await Promise.all(
    turns.map(({ chat: { chatId, stage }, turn }) => stage.store.findTurn({ chatId, turn })),
  );
  return rows.every((row) => row !== undefined && row.state !== 'active');
}
