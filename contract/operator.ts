/** What a person may ask of a turn or of a settle by an update. */
import type { CallStatus, Evidence } from './calls.ts';

/** The argument of the update `interrupt`; all of it may be left out. */
export interface InterruptRequest {
  /** Shown to people; the model is told only that the turn was interrupted. */
  readonly who?: string;
}

export interface InterruptAnswer {
  /** False when an earlier request was filed already. */
  readonly isNew: boolean;
}

/** The argument of the update `resolveCall`: a person's word where the agent's can't be had. */
export interface ResolveCallRequest {
  readonly key: string;
  /** `not_run` is believed only with the agent's word: its fence proves it. */
  readonly as: 'exit' | 'not_run' | 'unknown';
  /** With `as: "exit"`. */
  readonly exitCode?: number;
  readonly who: string;
  readonly why: string;
}

export interface ResolveCallAnswer {
  /** False when evidence had arrived: it won over what was asked for. */
  readonly isOperatorsWord: boolean;
  readonly status: CallStatus;
  readonly evidence: Evidence;
  /** One sentence that says what happened. */
  readonly message: string;
}
