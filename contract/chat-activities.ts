/** What the chat workflow asks of the store and of Temporal (design §6). Idempotent, since a lost worker makes it ask again. */
import type { CallStatus } from './calls.ts';
import type { NewChat } from './chat.ts';
import type { AgentId, ChatId, ExecutionKey, MessageId, Nonce } from './ids.ts';
import type { Target } from './target.ts';

/** On the turn queue, run as local activities: one transaction each. What they refuse, they refuse in words. */
export interface ChatActivities {
  /** Makes the chat if it isn't there and `create` is given; refusal `unknown_chat`. */
  openChat(input: OpenChatInput): Promise<OpenChatResult>;
  /** Refusals: `queue_full`, `chat_archived`, `bad_request`, `body_too_large`. */
  enqueueMessage(input: EnqueueMessageInput): Promise<EnqueueMessageResult>;
  /** Refusal `unknown_message`: not there, or a turn has taken it. */
  deleteQueued(input: QueuedMessageName): Promise<ChatFacts>;
  promoteQueued(input: QueuedMessageName): Promise<ChatFacts>;
  /** Whether the edit can be made, before anything is stopped for it; refusals `unknown_message`, `chat_archived`. */
  checkEdit(input: EditMessageInput): Promise<CheckEditResult>;
  /** In one transaction: hides the suffix, raises the epoch, puts the new text at the front of the queue. */
  editMessage(input: EditMessageInput): Promise<EditMessageResult>;
  bindChat(input: BindChatInput): Promise<ChatFacts>;
  /** Refusal `chat_busy` while a turn runs or messages wait. */
  archiveChat(input: ArchiveChatInput): Promise<ChatFacts>;
  /** A command that may still run, by its key; refusals `unknown_process`, `bad_request`, `too_busy`: not sent yet. */
  findStoppable(input: FindStoppableInput): Promise<FindStoppableResult>;
  /** Shows that the running turn is being stopped. */
  noteInterrupting(input: ChatTurnName): Promise<void>;
  /** Gives the next waiting message to a turn of its own; asked again, it names the same turn until that has ended. */
  claimNextTurn(input: ClaimNextTurnInput): Promise<ClaimNextTurnResult>;
}

/** On the turn queue. */
export interface ChatWatchActivities {
  /** Waits for the end of a turn that this chat's workflow didn't start itself. */
  awaitTurnEnd(input: ChatTurnName): Promise<AwaitTurnEndResult>;
  /** Has the workflows of these chats look at their rows; starts those that are gone. */
  wakeChats(input: { readonly chatIds: readonly ChatId[] }): Promise<void>;
}

export interface ChatTurnName {
  readonly chatId: ChatId;
  readonly turn: number;
}

/** A chat as its rows have it after what was asked. */
export interface ChatFacts {
  readonly agentId: AgentId;
  readonly model?: string;
  readonly epoch: number;
  readonly isArchived: boolean;
  /** Client message ids in the order in which they will be answered. */
  readonly queue: readonly string[];
}

export interface OpenChatInput {
  readonly chatId: ChatId;
  readonly create?: NewChat;
}

export interface OpenChatResult extends ChatFacts {
  /** Calls of hidden messages whose processes may still run: a chat that was lost in the middle of an edit goes on. */
  readonly hiddenCalls: readonly StoppableCall[];
}

/** A command that its agent has and that may still run: what its end is asked for by. */
export interface StoppableCall {
  readonly turn: number;
  readonly key: ExecutionKey;
  readonly nonce: Nonce;
  readonly target: Target;
  readonly summary: string;
}

export interface EnqueueMessageInput {
  readonly chatId: ChatId;
  readonly clientMessageId: string;
  readonly text: string;
  readonly place: 'back' | 'front';
}

export interface EnqueueMessageResult extends ChatFacts {
  readonly isNew: boolean;
  /** The turn that it was given to; undefined while it waits. */
  readonly turn?: number;
}

export interface QueuedMessageName {
  readonly chatId: ChatId;
  readonly clientMessageId: string;
}

export interface EditMessageInput extends QueuedMessageName {
  readonly messageId: MessageId;
  readonly text: string;
}

export interface CheckEditResult extends ChatFacts {
  /** This very edit was made before. */
  readonly isDone: boolean;
}

export interface EditMessageResult extends ChatFacts {
  readonly isNew: boolean;
  readonly hiddenCalls: readonly StoppableCall[];
}

export interface BindChatInput {
  readonly chatId: ChatId;
  readonly agentId?: AgentId;
  readonly model?: string;
}

export interface ArchiveChatInput {
  readonly chatId: ChatId;
  readonly isArchived: boolean;
}

export interface FindStoppableInput {
  readonly chatId: ChatId;
  readonly key: ExecutionKey;
}

export interface FindStoppableResult {
  readonly status: CallStatus;
  /** Absent when it has ended. */
  readonly call?: StoppableCall;
  /** The model has its result already, such as the handle of one in the background: its end is a later truth (C3). */
  readonly hasResult: boolean;
}

export interface ClaimNextTurnInput {
  readonly chatId: ChatId;
  /** Its number is used up on the server, by a turn that this store doesn't know: another one, so many further on. */
  readonly insteadOf?: { readonly turn: number; readonly skip: number };
}

export interface ClaimNextTurnResult extends ChatFacts {
  readonly claim?: TurnClaim;
}

export interface TurnClaim {
  readonly turn: number;
  /** The store says that it runs: it has taken its message. */
  readonly isRunning: boolean;
  /** Absent for a turn that runs. */
  readonly clientMessageId?: string;
  /** The first line of its message. */
  readonly summary: string;
}

export interface AwaitTurnEndResult {
  /** `gone`: its workflow is closed, and the store never knew it or has its end. */
  readonly state: 'completed' | 'failed' | 'interrupted' | 'gone';
}
