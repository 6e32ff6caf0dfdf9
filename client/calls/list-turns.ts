/** Turns as Temporal knows them, each with its pending activities and, while it runs, the answer of its `calls` query. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import pLimit from 'p-limit';
import { CALLS_QUERY, SEARCH_ATTRIBUTES, TURN_WORKFLOW_TYPE } from '../../contract/names.ts';
import { parseChatId } from '../../contract/ids.ts';
import type { AgentId, ChatId } from '../../contract/ids.ts';
import type { CallView } from '../../contract/turn.ts';
import { readPendingActivities } from '../watch/pending-activities.ts';
import type { PendingActivity } from '../watch/pending-activities.ts';

const ANSWER_MS_MAX = 5000;
/** Without a turn worker a query is never answered (temporal-live.md 10a). */
const QUERY_MS_MAX = 3000;
const SIDE_BY_SIDE = 8;
const RUNNING_TURNS_MAX = 200;

export interface CallsFilter {
  readonly chatId?: ChatId;
  readonly agentId?: AgentId;
}

export interface SeenTurn {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly isRunning: boolean;
  readonly pending: readonly PendingActivity[];
  /** Undefined when nobody answered, or the turn has ended. */
  readonly calls?: readonly CallView[];
}

/** The running ones, then the newest of the ended ones. Throws when Temporal doesn't answer. */
export async function listTurns(client: Client, filter: CallsFilter, endedMax: number): Promise<SeenTurn[]> {
  const running = await list(client, queryOf(filter, '='), RUNNING_TURNS_MAX);
  const ended = endedMax === 0 ? [] : await list(client, queryOf(filter, '!='), endedMax);
  const limit = pLimit(SIDE_BY_SIDE);
  return Promise.all([...running, ...ended].map((turn) => limit(() => look(client, turn))));
}

interface ListedTurn {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly info: WorkflowExecutionInfo;
}

async function list(client: Client, query: string, turnsMax: number): Promise<ListedTurn[]> {
  return client.connection.withDeadline(Date.now() + ANSWER_MS_MAX, async () => {
    const turns: ListedTurn[] = [];
    for await (const info of client.workflow.list({ query })) {
      const match = /^turn\/([^/]+)\/(\d+)$/.exec(info.workflowId);
      if (match === null) continue;
      turns.push({ chatId: parseChatId(match[1]), turn: Number(match[2]), info });
      if (turns.length >= turnsMax) break;
    }
    return turns;
  });
}

async function look(client: Client, { chatId, turn, info }: ListedTurn): Promise<SeenTurn> {
  const isRunning = info.status.name === 'RUNNING' || info.status.name === 'PAUSED';
  if (!isRunning) return { chatId, turn, isRunning, pending: [] };
  const handle = client.workflow.getHandle(info.workflowId);
  const { connection } = client;
  const [description, calls] = await Promise.all([
    connection.withDeadline(Date.now() + ANSWER_MS_MAX, () => handle.describe()),
    connection
      .withDeadline(Date.now() + QUERY_MS_MAX, () => handle.query<CallView[]>(CALLS_QUERY))
      // Silence is what is shown; which error the deadline makes of it says no more.
      .catch(() => undefined),
  ]);
  return {
    chatId,
    turn,
    isRunning,
    pending: readPendingActivities(description),
    ...(calls !== undefined && { calls }),
  };
}

function queryOf({ chatId, agentId }: CallsFilter, running: '=' | '!='): string {
  return [
    `WorkflowType = '${TURN_WORKFLOW_TYPE}'`,
    `ExecutionStatus ${running} 'Running'`,
    ...(chatId === undefined ? [] : [`${SEARCH_ATTRIBUTES.chatId} = '${chatId}'`]),
    ...(agentId === undefined ? [] : [`${SEARCH_ATTRIBUTES.agentId} = '${agentId}'`]),
  ].join(' AND ');
}
