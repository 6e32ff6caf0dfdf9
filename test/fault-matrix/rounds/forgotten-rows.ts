/** A journal that forgot a call which runs: the next attempt knows that it must exist, so it is unknown, and never run again. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readPendingActivities } from '../../fixtures/turn-history.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';
import { gatedPlan } from '../plans.ts';
import { lookAt, openChat } from './fault-round.ts';
import type { FaultRound, FaultRoundPlan } from './fault-round.ts';
import { halfDone } from './resets.ts';

const WAIT_MS_MAX = 60_000;

export const forgottenRows: FaultRoundPlan = { name: 'forgotten-rows', run };

async function run(round: FaultRound): Promise<void> {
  const { stage, tally } = round;
  const chat = await openChat(round);
  const go = join(stage.root, `go-${randomUUID()}`);
  const started = await chat.start(gatedPlan(chat.context, go, { doubts: ['absent'] }));
  await halfDone(started);
  const gated = (await stage.store.listCalls({ chatId: chat.chatId, turn: started.turn }))[1];
  if (gated === undefined) throw new Error('the gated call is not there');
  await waitUntil(
    'its attempt has told of the process',
    async () => (await readPendingActivities(started.handle)).some(({ heartbeat }) => heartbeat?.handle !== undefined),
    { deadlineMs: WAIT_MS_MAX },
  );
  const workers = await stage.hold('execute-worker', 'SIGKILL');
  tally.done('execute-worker/SIGKILL', workers);
  tally.done('agent/SIGKILL', await stage.hold('agent', 'SIGKILL'));
  const database = new DatabaseSync(join(stage.root, 'agent/journal.db'));
  const named = 'key = ? AND chat_id = ?';
  database
    .prepare(`DELETE FROM attempts WHERE call_id = (SELECT id FROM calls WHERE ${named})`)
    .run(gated.key, chat.chatId);
  database.prepare(`DELETE FROM calls WHERE ${named}`).run(gated.key, chat.chatId);
  database.close();
  stage.release('agent');
  stage.release('execute-worker');
  await waitUntil(
    'the call has its result, or has begun once more',
    async () => {
      const { store } = stage;
      const row = await store.findCall({ chatId: chat.chatId, key: gated.key });
      const runs = stage.readRunLog().filter((line) => line === `begin ${gated.toolCallId}`).length;
      return row?.result !== undefined || runs > 1;
    },
    { deadlineMs: WAIT_MS_MAX, describe: () => stage.describe() },
  );
  writeFileSync(go, '');
  await chat.ended(started);
  await lookAt(round, [chat]);
}
