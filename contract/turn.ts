/** The turn workflow as others see it: what starts it, what it answers, what it shows. */
import type { CallStatus, Evidence } from './calls.ts';
import type { AgentId, ChatId, ExecutionKey, Handle, MessageId } from './ids.ts';
import type { Target } from './target.ts';

/** Times that a deployment or a test may set; all have defaults in `limits.ts`. */
export interface TurnTimings {
  readonly heartbeatTimeoutMs?: number;
  readonly trustWindowMs?: number;
  readonly interruptGraceMs?: number;
  readonly describeAgentMs?: number;
  readonly settleForMs?: number;
}

/** The one argument of the workflow `turn`. The user's message is in the store, queued for this chat. */
export interface TurnInput {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly agentId: AgentId;
  /** Which model answers, such as `scripted:/path/to/script.json`. */
  readonly model: string;
  readonly timings?: TurnTimings;
  /** Whether command lines may be shown in summaries (they are not encrypted). Default true. */
  readonly showCommands?: boolean;
  /** The turn moves to a new run, between two steps, when its history has more events; default: what the server suggests. */
  readonly historyEventsMax?: number;
}

export type TurnEnd = 'completed' | 'failed' | 'interrupted';

export interface TurnResult {
  readonly state: TurnEnd;
  readonly steps: number;
  readonly calls: number;
  readonly lastMessageId?: MessageId;
  /** A code of `failures.ts` and a sentence, when the state is `failed`. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** A row of the `calls` query. */
export interface CallView {
  readonly key: ExecutionKey;
  readonly step: number;
  readonly toolName: string;
  readonly summary: string;
  readonly status: CallStatus;
  readonly agentId: AgentId;
  readonly handle?: Handle;
  readonly evidence?: Evidence;
  readonly exitCode?: number;
  readonly target?: Target;
}

/** What a pending `execute` tells by its heartbeat; small and versioned, shown in the Temporal UI. */
export interface ExecuteHeartbeat {
  readonly v: 1;
  readonly key: ExecutionKey;
  readonly phase: 'dispatching' | 'running' | 'unreachable';
  readonly target: Target;
  /** Present only after an answer of this journal to this key: what `mustExist` rests on. */
  readonly handle?: Handle;
  /** Wall clock of the agent, ISO 8601. */
  readonly started?: string;
  /** When the budget is over, wall clock, ISO 8601; for people, not for decisions. */
  readonly deadline?: string;
  readonly bytes?: number;
  readonly lastLine?: string;
  /** Wall clock, ISO 8601: since when every try to reach the agent failed. */
  readonly unreachableSince?: string;
  /** Failed tries counted by the trust window, in milliseconds of away time. */
  readonly unreachableMs?: number;
}
