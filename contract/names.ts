/** The names by which the pieces find each other on Temporal. */
import type { AgentId, ChatId } from './ids.ts';

/** Task queue of the turn workers: workflows, generateStep, store writes. */
export const TURN_TASK_QUEUE_DEFAULT = 'latchkey-turns';

export function executeTaskQueue(agentId: AgentId): string {
  return `agent-${agentId}`;
}

/** Everything short at an agent, with slots of its own: full execute slots can't hold up an interrupt (I04). */
export function controlTaskQueue(agentId: AgentId): string {
  return `agent-${agentId}-control`;
}

export function turnWorkflowId(chatId: ChatId, turn: number): string {
  return `turn/${chatId}/${turn}`;
}

export const TURN_WORKFLOW_TYPE = 'turn';
export const CALLS_QUERY = 'calls';

/** Custom search attributes, all of type Keyword. The dev server is started with them. */
export const SEARCH_ATTRIBUTES = { chatId: 'ChatId', agentId: 'AgentId', turnState: 'TurnState' } as const;
