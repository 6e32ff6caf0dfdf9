/** The names by which the pieces find each other on Temporal. */
import { activityIdOf } from './execution-key.ts';
import type { AgentId, ChatId, ExecutionKey } from './ids.ts';

/** Task queue of the turn workers: workflows, generateStep, store writes. */
export const TURN_TASK_QUEUE_DEFAULT = 'latchkey-turns';

export function executeTaskQueue(agentId: AgentId): string {
  return `agent-${agentId}`;
}

/** Everything short at an agent, with slots of its own: full execute slots can't hold up an interrupt (I04). */
export function controlTaskQueue(agentId: AgentId): string {
  return `agent-${agentId}-control`;
}

/** The entity of a chat: one a chat, started by whoever asks something of it first. */
export function chatWorkflowId(chatId: ChatId): string {
  return `chat/${chatId}`;
}

export function turnWorkflowId(chatId: ChatId, turn: number): string {
  return `turn/${chatId}/${turn}`;
}

/** One a key: a second one for the same call joins the first. */
export function settleWorkflowId(chatId: ChatId, key: ExecutionKey): string {
  return `settle/${chatId}/${activityIdOf(key)}`;
}

/** One a turn, so that each end is told by one id. */
export function noticeWorkflowId(chatId: ChatId, turn: number): string {
  return `notice/${chatId}/${turn}`;
}

/** One a question. */
export function readOutputWorkflowId(chatId: ChatId, questionId: string): string {
  return `read/${chatId}/${questionId}`;
}

/** One for all turn workers of a queue. */
export function sweepScheduleId(turnQueue: string): string {
  return `latchkey-sweep/${turnQueue}`;
}

export const CHAT_WORKFLOW_TYPE = 'chat';
export const TURN_WORKFLOW_TYPE = 'turn';
export const SETTLE_WORKFLOW_TYPE = 'settle';
export const NOTICE_WORKFLOW_TYPE = 'notice';
export const SWEEP_WORKFLOW_TYPE = 'sweep';
export const READ_OUTPUT_WORKFLOW_TYPE = 'readOutput';
export const CALLS_QUERY = 'calls';
export const INTERRUPT_UPDATE = 'interrupt';
export const RESOLVE_CALL_UPDATE = 'resolveCall';
export const RETIRE_AGENT_SIGNAL = 'retireAgent';

/** The updates and the query of a chat; their arguments and answers are in `chat.ts`. */
export const CHAT_UPDATES = {
  send: 'send',
  edit: 'edit',
  deleteQueued: 'deleteQueued',
  promoteQueued: 'promoteQueued',
  interrupt: 'interrupt',
  cancelCall: 'cancelCall',
  bind: 'bind',
  archive: 'archive',
} as const;
export const CHAT_QUERY = 'chat';
/** Has a chat look at its rows: something waits there that it wasn't told of. */
export const CHAT_LOOK_SIGNAL = 'look';

/** Custom search attributes, all of type Keyword. The dev server is started with them. */
export const SEARCH_ATTRIBUTES = { chatId: 'ChatId', agentId: 'AgentId', turnState: 'TurnState' } as const;

/** One of them with its value, in the form that Temporal's SDKs take. */
export function searchAttribute(name: keyof typeof SEARCH_ATTRIBUTES, value: string) {
  return { key: { name: SEARCH_ATTRIBUTES[name], type: 'KEYWORD' as const }, value };
}
