/** The workflow that goes on asking for the truth of one call after its turn has moved on (design §5). */
import type { Evidence, ResolvedStatus, SendSignalRequest } from './calls.ts';
import type { ChatId, ExecutionKey, Nonce } from './ids.ts';
import type { Target } from './target.ts';

/** The one argument of the workflow `settle`. */
export interface SettleInput {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly key: ExecutionKey;
  readonly nonce: Nonce;
  readonly target: Target;
  readonly summary: string;
  /** `kill`: an interrupt wanted its end. `fence`: only the truth is wanted, and what runs is left alone (C6). */
  readonly mode: 'kill' | 'fence';
  /** Of a `process_signal`: what was to be sent. */
  readonly sending?: SendSignalRequest;
  /** Why the turn moved on without the truth; one sentence for people. */
  readonly cause: string;
  readonly settleForMs?: number;
  /** Workflow time of its first run; set when it continues as new. */
  readonly sinceMs?: number;
}

export interface SettleResult {
  /** What the call's row was told. */
  readonly status: ResolvedStatus;
  readonly evidence: Evidence;
}

/** The argument of the signal `retireAgent`: the agent is gone for good, so nobody needs to wait for its word. */
export interface RetireAgent {
  readonly who: string;
  readonly why: string;
}
