/** What every round works with: chats that go on while something happens, and the look at their turns afterwards. */
import type { TurnTimings } from '../../../contract/turn.ts';
import type { SeededRandom } from '../../crash-matrix/seeded-random.ts';
import { Chat } from '../chat.ts';
import type { StartedTurn } from '../chat.ts';
import { gather } from '../evidence.ts';
import { FAULTS } from '../faults.ts';
import type { FaultName } from '../faults.ts';
import type { FaultTally } from '../fault-tally.ts';
import { LAST_PLAN, PLANS } from '../plans.ts';
import type { PlanKind } from '../plans.ts';
import type { Stage } from '../stage.ts';

export interface FaultRound {
  readonly stage: Stage;
  readonly tally: FaultTally;
  readonly random: SeededRandom;
  /** Numbers the chats of the whole sweep. */
  readonly nextName: () => string;
}

/** One kind of faults, done once, with turns under way. */
export interface FaultRoundPlan {
  /** For the progress line, and for `--only`. */
  readonly name: string;
  readonly run: (round: FaultRound) => Promise<void>;
}

export function openChat({ stage, nextName, random }: FaultRound, timings: TurnTimings = {}): Promise<Chat> {
  return Chat.open(stage, nextName(), random, timings);
}

/** One chat for each kind, which begins a turn after the other while the faults are made. */
export async function underTurns(
  round: FaultRound,
  kinds: readonly PlanKind[],
  faults: () => Promise<void>,
): Promise<void> {
  const chats = await Promise.all(kinds.map(() => openChat(round)));
  const made = { isOver: false };
  const running = chats.map(async (chat, index) => {
    for (let turns = 0; turns === 0 || !made.isOver; turns++) {
      const kind = kinds[(index + turns) % kinds.length] ?? 'plain';
      const { wedged } = await chat.run(PLANS[kind](chat.context));
      if (wedged !== undefined) return;
    }
  });
  const [fault, ...ends] = await Promise.allSettled([faults().finally(() => (made.isOver = true)), ...running]);
  for (const end of [fault, ...ends]) if (end?.status === 'rejected') throw end.reason;
  await lookAt(round, chats);
}

/** When everybody is there again: each chat has one more turn, for the strict provider; then all that is known is checked. */
export async function lookAt({ stage, tally }: FaultRound, chats: readonly Chat[]): Promise<void> {
  await stage.isWhole();
  const turns = await Promise.all(chats.map(lastTurn));
  for (const evidence of await Promise.all(turns.flat().map(gather))) tally.add(evidence);
  stage.agentProxy.exchanges.length = 0;
}

async function lastTurn(chat: Chat): Promise<readonly StartedTurn[]> {
  // A chat that is wedged can't take another.
  if (chat.turns.every(({ wedged }) => wedged === undefined)) await chat.run(LAST_PLAN);
  return chat.turns;
}

export async function makeFault({ stage, tally, random }: FaultRound, fault: FaultName): Promise<void> {
  tally.done(fault, await FAULTS[fault](stage, random));
}
