/** Starts that are on their way while their turn is interrupted: the agent fences the keys, and they run nothing (G02, K7). */
import { waitUntil } from '../../fixtures/wait-until.ts';
import { PLANS } from '../plans.ts';
import { lookAt, openChat } from './fault-round.ts';
import type { FaultRound, FaultRoundPlan } from './fault-round.ts';

const CHATS = 3;
const WAIT_MS_MAX = 60_000;

export const lateStarts: FaultRoundPlan = { name: 'late-starts', run };

async function run(round: FaultRound): Promise<void> {
  const { agentProxy } = round.stage;
  const released = Promise.withResolvers<void>();
  let held = 0;
  agentProxy.onRequest = async ({ verb }) => {
    if (verb !== 'start') return;
    held += 1;
    await released.promise;
  };
  try {
    const chats = await Promise.all(Array.from({ length: CHATS }, () => openChat(round)));
    const turns = await Promise.all(chats.map((chat) => chat.start(PLANS.interrupted(chat.context))));
    // Two commands each.
    await waitUntil('every start is on its way', () => held >= 2 * CHATS, {
      deadlineMs: WAIT_MS_MAX,
      describe: () => round.stage.describe(),
    });
    await Promise.all(turns.map((turn) => turn.chat.interrupt(turn)));
    await Promise.all(turns.map((turn) => turn.chat.ended(turn)));
    const before = agentProxy.of('start').length;
    released.resolve();
    await waitUntil('the starts have been answered', () => answered(round) >= before, { deadlineMs: WAIT_MS_MAX });
    agentProxy.onRequest = () => undefined;
    await lookAt(round, chats);
  } finally {
    released.resolve();
    agentProxy.onRequest = () => undefined;
  }
}

/** By the agent: whoever had asked may have gone. */
function answered({ stage }: FaultRound): number {
  return stage.agentProxy.of('start').filter(({ answer, isLost }) => answer !== undefined || isLost === true).length;
}
