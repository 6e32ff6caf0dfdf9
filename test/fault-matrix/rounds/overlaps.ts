/** One of the turn workers is stopped while the model writes and goes on while another attempt writes (I09). */
import { setTimeout as delay } from 'node:timers/promises';
import { waitUntil } from '../../fixtures/wait-until.ts';
import { wordyPlan } from '../plans.ts';
import { HEARTBEAT_TIMEOUT_MS } from '../stage.ts';
import { lookAt, openChat } from './fault-round.ts';
import type { FaultRound, FaultRoundPlan } from './fault-round.ts';

const CHATS = 4;
const WAIT_MS_MAX = 60_000;
/** Until the other one has taken over and writes, and long before it has written all. */
const TAKEN_OVER_MS = 2000;

export const overlaps: FaultRoundPlan = { name: 'overlaps', run };

async function run(round: FaultRound): Promise<void> {
  const { stage } = round;
  const chats = await Promise.all(Array.from({ length: CHATS }, () => openChat(round)));
  const turns = await Promise.all(chats.map((chat) => chat.start(wordyPlan(chat.context))));
  const ends = turns.map((turn) => turn.chat.ended(turn));
  await waitUntil(
    'every model writes',
    async () => {
      const events = await Promise.all(
        chats.map(({ chatId }) => stage.store.readEvents({ chatId, after: 0, limit: 1000 })),
      );
      return events.every((found) => found.some(({ type }) => type === 'part'));
    },
    { deadlineMs: WAIT_MS_MAX, describe: () => stage.describe() },
  );
  const [frozen] = stage.pieces('turn-worker');
  if (frozen === undefined) throw new Error('no turn worker is there');
  frozen.signal('SIGSTOP');
  // Not a wait for anything: past the heartbeat time-out the server hands the step to the other worker.
  await delay(HEARTBEAT_TIMEOUT_MS + TAKEN_OVER_MS);
  frozen.signal('SIGCONT');
  await Promise.all(ends);
  await lookAt(round, chats);
}
