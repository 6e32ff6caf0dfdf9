/** The chat workflow as others see it: what starts it, what may be asked of it, what it answers (design §6). */
import type { CallStatus } from './calls.ts';
import type { AgentId, ChatId, ExecutionKey, MessageId } from './ids.ts';
import type { TurnTimings } from './turn.ts';

/**
 * The one argument of the workflow `chat`. Queue, binding, epoch and turn number are rows of the store, so an entity
 * that was lost is rebuilt by whoever asks something of it next (update-with-start).
 */
export interface ChatInput {
  readonly chatId: ChatId;
  /** Makes the chat if the store has none of this id; where it has one, its row wins. */
  readonly create?: NewChat;
  readonly timings?: TurnTimings;
  /** Whether command lines may be shown in summaries. Default true. */
  readonly showCommands?: boolean;
  /** Passed on to each turn. */
  readonly historyEventsMax?: number;
  /** The chat moves to a run of its own, between two turns, after so many updates; for tests. */
  readonly updatesMax?: number;
  /** Set when it continues as new: what an interrupted edit had left was seen to by an earlier run. */
  readonly isContinued?: boolean;
}

export interface NewChat {
  readonly agentId: AgentId;
  /** Which model answers, such as `scripted:/path/to/script.json`. */
  readonly model: string;
}

/** Update `send`. Idempotent by client message id: a duplicate changes nothing, also if its text differs. */
export interface SendRequest {
  /** 1 to 200 characters, chosen by the sender. */
  readonly clientMessageId: string;
  readonly text: string;
  /** `interrupt`: stops the running turn, and this message is answered next. Default `queue`. */
  readonly mode?: 'queue' | 'interrupt';
}

export interface SendAnswer {
  readonly isNew: boolean;
  /** The turn that took it, where one has already; else it waits. */
  readonly turn?: number;
  /** Messages that wait, this one included; 0 when it was taken. */
  readonly waiting: number;
}

/** Update `edit`: hides this user message and all that follows, stops what runs of it, and answers the new text. */
export interface EditRequest {
  readonly messageId: MessageId;
  readonly clientMessageId: string;
  readonly text: string;
}

export interface EditAnswer {
  readonly isNew: boolean;
  /** The chat's epoch since the edit: one more with each. */
  readonly epoch: number;
  /** Calls of the hidden messages whose processes are being stopped. */
  readonly stopping: readonly ExecutionKey[];
}

/** Updates `deleteQueued` and `promoteQueued` (to the front). Refused when a turn has taken the message. */
export interface QueuedRequest {
  readonly clientMessageId: string;
}

export interface QueueAnswer {
  /** Client message ids in the order in which they will be answered. */
  readonly queue: readonly string[];
}

/** Update `interrupt`. Without a running turn it changes nothing and says so. */
export interface ChatInterruptRequest {
  readonly who?: string;
  /** The one that is meant: if another runs by now, nothing changes. Left out: whichever runs. */
  readonly turn?: number;
}

export interface ChatInterruptAnswer {
  /** The turn that is being stopped. */
  readonly turn?: number;
}

/** Update `cancelCall`: kills the command of one call, also one in the background; its turn goes on with that result. */
export interface CancelCallRequest {
  readonly key: ExecutionKey;
  readonly who?: string;
}

export interface CancelCallAnswer {
  /** The command does not run any more, by its agent's word. */
  readonly hasEnded: boolean;
  /** `running` where its agent says so, or said nothing. */
  readonly status: CallStatus;
  /** One sentence that says what happened, and what to do where it still runs. */
  readonly message: string;
}

/** Update `bind`: from the next turn on. A running call stays with its agent (E12). */
export interface BindRequest {
  readonly agentId?: AgentId;
  readonly model?: string;
}

export interface BindAnswer {
  readonly agentId: AgentId;
  readonly model: string;
}

/**
 * Update `archive`: closes the chat for messages, or opens it again. Refused while a turn runs or messages wait. Binding
 * and reading go on; the workflow of an archived chat has completed, and the next update starts it again.
 */
export interface ArchiveRequest {
  readonly isArchived: boolean;
}

export interface ArchiveAnswer {
  readonly isArchived: boolean;
}

export type ChatState = 'idle' | 'running' | 'interrupting' | 'archived';

/** What the query `chat` answers while the rows were not looked at yet, and of a chat that the store doesn't know. */
export type ChatWithoutView = 'opening' | 'unknown';

/** Query `chat`. */
export interface ChatView {
  readonly state: ChatState;
  readonly agentId: AgentId;
  readonly model: string;
  readonly epoch: number;
  readonly turn?: number;
  readonly queue: readonly string[];
}
