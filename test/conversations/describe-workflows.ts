/** What Temporal says of a chat that doesn't get on, and of its last turn. */
import type { ChatId } from '../../contract/ids.ts';
import { chatWorkflowId, turnWorkflowId } from '../../contract/names.ts';
import type { Stage } from '../fault-matrix/stage.ts';

const EVENTS_SHOWN = 25;

interface Described {
  readonly stage: Stage;
  readonly chatId: ChatId;
}

export async function describeWorkflows({ stage, chatId }: Described): Promise<string> {
  const chat = await stage.store.findChat(chatId);
  const ids = [chatWorkflowId(chatId), turnWorkflowId(chatId, chat?.activeTurn ?? chat?.lastTurn ?? 1)];
  const told = await Promise.all(
    ids.map((id) => describeOne(stage, id).catch((error: unknown) => `${id}: ${String(error)}`)),
  );
  return [JSON.stringify(chat), ...told].join('\n');
}

async function describeOne({ client }: Stage, workflowId: string): Promise<string> {
  const handle = client.workflow.getHandle(workflowId);
  const { status, raw } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const { pendingActivities, pendingWorkflowTask } = raw;
  const last = (events ?? []).slice(-EVENTS_SHOWN).map(({ eventType, eventTime, eventId }) => {
    return `${String(eventId)} ${String(eventType)} at ${String(eventTime?.seconds)}`;
  });
  const pending = (pendingActivities ?? []).map(({ activityId, activityType, state, attempt, lastFailure }) => {
    return `${activityId} ${activityType?.name} state ${state} attempt ${attempt} ${lastFailure?.message ?? ''}`;
  });
  return JSON.stringify({ workflowId, status: status.name, pending, pendingWorkflowTask, last });
}
