/** Running turns are reset to their beginning by an operator: what has its result keeps it, what runs is joined (L19). */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { turnWorkflowId } from '../../../contract/names.ts';
import { insist } from '../chat.ts';
import type { StartedTurn } from '../chat.ts';
import { gatedPlan } from '../plans.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';
import { lookAt, openChat } from './fault-round.ts';
import type { FaultRound, FaultRoundPlan } from './fault-round.ts';

const CHATS = 3;
const WAIT_MS_MAX = 60_000;

export const resets: FaultRoundPlan = { name: 'resets', run };

async function run(round: FaultRound): Promise<void> {
  const chats = await Promise.all(Array.from({ length: CHATS }, () => openChat(round)));
  const go = join(round.stage.root, `go-${randomUUID()}`);
  const turns = await Promise.all(chats.map((chat) => chat.start(gatedPlan(chat.context, go))));
  await Promise.all(turns.map(halfDone));
  await Promise.all(turns.map(resetToBeginning));
  await Promise.all(turns.map(isJoinedAgain));
  writeFileSync(go, '');
  await Promise.all(turns.map((turn) => turn.chat.ended(turn)));
  await lookAt(round, chats);
}

/** One call has its result, the other one runs. */
export async function halfDone({ chat, turn }: StartedTurn): Promise<void> {
  const { store } = chat.stage;
  await waitUntil(
    'one call is done and the other one runs',
    async () => {
      const [side, gated] = await store.listCalls({ chatId: chat.chatId, turn });
      return side?.status === 'exited' && chat.stage.readRunLog().includes(`begin ${gated?.toolCallId}`);
    },
    { deadlineMs: WAIT_MS_MAX, describe: () => chat.stage.describe() },
  );
}

/** The new run has seen what is stored, and its attempt is under way. */
async function isJoinedAgain({ handle }: StartedTurn): Promise<void> {
  await waitUntil(
    'the new run attends the command',
    async () => {
      const { raw } = await handle.describe();
      return (raw.pendingActivities ?? []).some(({ activityType }) => activityType?.name === 'execute');
    },
    { deadlineMs: WAIT_MS_MAX },
  );
}

async function resetToBeginning({ chat, turn, handle }: StartedTurn): Promise<void> {
  const { client, server } = chat.stage;
  const events = (await handle.fetchHistory()).events ?? [];
  const first = events.find((event) => event.workflowTaskCompletedEventAttributes);
  const { runId } = await handle.describe();
  const requestId = randomUUID();
  await insist('it is reset', () =>
    client.workflowService.resetWorkflowExecution({
      namespace: server.namespace,
      workflowExecution: { workflowId: turnWorkflowId(chat.chatId, turn), runId },
      workflowTaskFinishEventId: first?.eventId as never,
      requestId,
      reason: 'a round of the fault matrix',
    }),
  );
}
