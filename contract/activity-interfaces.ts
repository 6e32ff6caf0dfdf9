/**
 * What workflows may ask for. The interfaces are here and not beside their code, since even a type-only import of an
 * activity's file would drag Node's types into the workflow check.
 */
import type {
  CallOutcome,
  CommittedCall,
  Evidence,
  ExecuteRequest,
  ProcessRequest,
  ResultStatus,
  SendSignalRequest,
} from './calls.ts';
import type { AgentId, ChatId, ExecutionKey, Incarnation, MessageId, Nonce } from './ids.ts';
import type { NoticeInput } from './notice.ts';
import type { StrayCall, StrayTurn } from './sweep.ts';
import type { Target } from './target.ts';
import type { TurnEnd } from './turn.ts';

/** On the turn queue. All idempotent: by chat and turn, by chat, turn and step or number, or by chat and key. */
export interface TurnActivities {
  takeTurn(input: TakeTurnInput): Promise<TakeTurnResult>;
  generateStep(input: GenerateStepInput): Promise<GenerateStepResult | CompactionDue>;
  compactConversation(input: CompactConversationInput): Promise<CompactConversationResult>;
  closeStep(input: CloseStepInput): Promise<CloseStepResult>;
}

/** On the turn queue, run as local activities: one quick, idempotent write each. */
export interface StoreActivities {
  /** Writes the targets into rows that have none; returns what the rows then hold: it wins (K5). */
  recordTargets(input: RecordTargetsInput): Promise<RecordTargetsResult>;
  recordResult(input: RecordResultInput): Promise<RecordResultResult>;
  /** Shows that the end of these calls was asked for; such a call is never dispatched again (C3). */
  recordCancelRequests(input: RecordCancelRequestsInput): Promise<void>;
  /** What became known of a call later: moves its status, never its text; gives it its result if it has none (C3). */
  recordTruth(input: RecordTruthInput): Promise<RecordResultResult>;
  endTurn(input: EndTurnInput): Promise<EndTurnResult>;
}

/** On the turn queue, for the sweep. */
export interface SweepActivities {
  findStrays(): Promise<FindStraysResult>;
  /** Closes every step of a stray turn; gives "not run" to what was never dispatched, hands back the rest. */
  closeStrayTurn(input: StrayTurn): Promise<CloseStrayTurnResult>;
}

/** On the turn queue, for the notice of a turn's end. */
export interface NoticeActivities {
  /** Sends it once; fails to be tried again, or with `notice_refused` when that is of no use. */
  deliverNotice(input: NoticeInput): Promise<DeliverNoticeResult>;
}

/** On an agent's execute queue. */
export interface ExecuteActivities {
  execute(input: ExecuteInput): Promise<CallOutcome>;
}

/** On an agent's control queue: everything short. */
export interface ControlActivities {
  describeAgent(input: DescribeAgentInput): Promise<AgentDescription>;
  cancelCall(input: CancelCallInput): Promise<CancelCallResult>;
  /** Tells the model of a chat's processes; a value is the agent's answer, also that there is no such process. */
  readProcess(input: ReadProcessInput): Promise<CallOutcome>;
  /** Sends a signal once, however often it is asked (I07); a value is the word of the agent's journal. */
  signalProcess(input: SignalProcessInput): Promise<CallOutcome>;
}

export interface TakeTurnInput {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly agentId: AgentId;
  /** The chat's highest message id that the agent has seen; undefined when the agent could not be asked. */
  readonly agentHighestMessageId?: number;
}

/**
 * `active`: this turn is the chat's running one. Ids up to and including `highestMessageId` are taken.
 * Refusals (non-retryable failures): `turn_closed`, `chat_busy`, `store_rolled_back`.
 */
export interface TakeTurnResult {
  readonly highestMessageId: number;
}

export interface GenerateStepInput {
  readonly chatId: ChatId;
  readonly turn: number;
  /** From 1. */
  readonly step: number;
  readonly messageId: MessageId;
  readonly stepNonce: string;
  readonly agentId: AgentId;
  readonly model: string;
  readonly showCommands: boolean;
  /** With its age when the activity was scheduled; committed with the calls only while fresh. */
  readonly target?: Target;
  readonly targetAgeMs?: number;
  /** Room was made for this step, or could not be: the model is asked however full its window is. */
  readonly isCompacted?: boolean;
}

export interface GenerateStepResult {
  /** As stored: a committed step returns its own id, also when another was offered. */
  readonly messageId: MessageId;
  readonly calls: readonly CommittedCall[];
  /** No calls: the turn's work is done. */
  readonly isFinal: boolean;
}

/** The model was not asked: so much of its window is used that the conversation should be compacted first. */
export interface CompactionDue {
  readonly isCompactionDue: true;
}

export interface CompactConversationInput {
  readonly chatId: ChatId;
  readonly turn: number;
  /** From 1 within the turn. */
  readonly number: number;
  /** Of the summary. */
  readonly messageId: MessageId;
  readonly model: string;
  /** The provider takes no more; else there is room left, and a summary must be worth its price. */
  readonly isRefused: boolean;
}

export interface CompactConversationResult {
  /** As stored; undefined when nothing was replaced. */
  readonly messageId?: MessageId;
  /** How many messages the summary stands for; 0: there was nothing that could be left out. */
  readonly messageCount: number;
}

export interface CloseStepInput {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly step: number;
  /** The turn was interrupted: what the model had written so far stays, as its message. */
  readonly keepsText?: boolean;
}

export interface CloseStepResult {
  /** Undefined when the step was never committed (it can't be any more). */
  readonly messageId?: MessageId;
  /** Calls that still have no result: to be fenced where they have a target. The others were closed as "not run". */
  readonly openCalls: readonly CommittedCall[];
}

export interface RecordTargetsInput {
  readonly chatId: ChatId;
  readonly keys: readonly ExecutionKey[];
  readonly target: Target;
}

export interface RecordTargetsResult {
  /** One a key, in the order asked. */
  readonly targets: readonly Target[];
}

export interface RecordResultInput {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly key: ExecutionKey;
  readonly outcome: CallOutcome;
  /** The row stays `cancel_requested`: the text is the call's one result, and a settle goes on asking for its end. */
  readonly isStillAsked?: boolean;
}

export interface RecordResultResult {
  /** The status that the row holds: the first result stands (C3). */
  readonly status: ResultStatus;
  readonly evidence: Evidence;
}

export interface RecordCancelRequestsInput {
  readonly chatId: ChatId;
  readonly keys: readonly ExecutionKey[];
}

export type RecordTruthInput = Omit<RecordResultInput, 'isStillAsked'>;

export interface FindStraysResult {
  readonly turns: readonly StrayTurn[];
  readonly calls: readonly StrayCall[];
  /** Chats in which a message waits while no turn runs; a worker that is older than chats tells of none. */
  readonly chats?: readonly ChatId[];
}

export interface CloseStrayTurnResult {
  readonly openCalls: readonly CommittedCall[];
}

export interface EndTurnInput {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly state: TurnEnd;
  readonly error?: { readonly code: string; readonly message: string };
  /** Ids up to this one are taken: a store that went back in time is told, so that they are never used twice (I02). */
  readonly highestMessageId?: number;
}

export interface EndTurnResult {
  /** Somebody wants to be told: the worker knows its settings, and the store whether a person had interrupted it. */
  readonly isNoticeWanted: boolean;
}

export interface DeliverNoticeResult {
  /** The receiver's HTTP status. */
  readonly status: number;
}

export interface ExecuteInput {
  readonly chatId: ChatId;
  readonly key: ExecutionKey;
  readonly nonce: Nonce;
  readonly target: Target;
  readonly request: ExecuteRequest;
  readonly trustWindowMs: number;
}

export interface DescribeAgentInput {
  readonly agentId: AgentId;
  readonly chatId: ChatId;
}

export interface AgentDescription {
  readonly target: Target;
  readonly incarnation: Incarnation;
  /** Start-up scripts are done. */
  readonly isReady: boolean;
  /** The chat's highest message id that the agent has seen; 0 when it has seen none. */
  readonly chatHighestMessageId: number;
}

export interface CancelCallInput {
  readonly chatId: ChatId;
  readonly key: ExecutionKey;
  readonly nonce: Nonce;
  readonly target: Target;
  readonly mode: 'kill' | 'fence';
  readonly graceMs?: number;
  /** The call is a `process_signal`: its sending is fenced, in either mode, and what became of it is the answer. */
  readonly sending?: SendSignalRequest;
}

export interface ReadProcessInput {
  readonly chatId: ChatId;
  readonly target: Target;
  readonly request: ProcessRequest;
}

export interface SignalProcessInput {
  readonly chatId: ChatId;
  readonly key: ExecutionKey;
  readonly nonce: Nonce;
  readonly target: Target;
  readonly request: SendSignalRequest;
}

/** What is true of the key after the cancel, by the word of the target's journal. */
export interface CancelCallResult {
  readonly outcome: CallOutcome | RunningCall;
}

/** Still alive at the agent: with `handle`, output so far and a text, all that a `detached` result needs. */
export type RunningCall = Partial<Omit<CallOutcome, 'status' | 'evidence'>> & {
  readonly status: 'running';
  readonly evidence: Evidence;
};
