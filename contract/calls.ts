/** A tool call, from what the model asked for to what became of it (design §5). */
import type { AgentId, ExecutionKey, Handle, Nonce, ToolCallId } from './ids.ts';
import type { SignalName } from './signals.ts';
import type { Target } from './target.ts';

/** The ledger's nine statuses. `starting` and `running` are observed, never stored as a decision. */
export const CALL_STATUSES = [
  'reserved',
  'starting',
  'running',
  'exited',
  'detached',
  'cancel_requested',
  'canceled',
  'unknown',
  'no_effect',
] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

/** The statuses that resolve a call: it has its one result and is never dispatched again (C3). */
export const RESOLVED_STATUSES = ['exited', 'detached', 'canceled', 'unknown', 'no_effect'] as const;
export type ResolvedStatus = (typeof RESOLVED_STATUSES)[number];

export function isResolved(status: CallStatus): status is ResolvedStatus {
  return (RESOLVED_STATUSES as readonly CallStatus[]).includes(status);
}

/** What a row that has its result may hold: its end, or that its end is still asked for (`settle`). */
export type ResultStatus = ResolvedStatus | 'cancel_requested';

/** Where a later truth may move a call that has its result (C3). A real exit is final; doubt never replaces an answer. */
export const LATE_TRUTHS_OF: Readonly<Record<ResultStatus, readonly ResolvedStatus[]>> = {
  cancel_requested: RESOLVED_STATUSES,
  exited: [],
  detached: ['exited', 'canceled', 'unknown'],
  canceled: ['exited', 'detached'],
  unknown: ['exited', 'detached', 'canceled', 'no_effect'],
  no_effect: ['exited', 'detached', 'canceled'],
};

/** A person's word gives way to whatever an agent proves. */
const TRUTHS_OVER_A_PERSON: readonly ResolvedStatus[] = ['exited', 'detached', 'canceled', 'no_effect'];

/** Whether a later truth may move a call from what it holds. */
export function mayMoveTo(
  truth: { readonly status: ResolvedStatus; readonly evidence: Evidence },
  held: { readonly status: ResultStatus; readonly evidence: Evidence | undefined },
): boolean {
  const isPersons = held.evidence?.code === 'operator';
  if (isPersons && truth.evidence.code !== 'operator') return TRUTHS_OVER_A_PERSON.includes(truth.status);
  return LATE_TRUTHS_OF[held.status].includes(truth.status);
}

/** What proves a call's end. Each resolved status accepts only some of these (`workflows/ledger.ts`). */
export const EVIDENCE_CODES = [
  /** The agent's journal holds a real exit. */
  'exit',
  /** The command was started in the background, as asked. */
  'background',
  /** The budget was over and the command still ran. */
  'budget',
  /** The agent stopped it on purpose: an interrupt, an operator, or `on_timeout: "kill"`. */
  'killed',
  /** The key is fenced: it ran nothing and never will. */
  'fenced',
  /** Provably never ran. */
  'void',
  /** The launch failed before the command; recorded. */
  'spawn_failed',
  /** The row has no target: it was never dispatched. */
  'not_dispatched',
  /** The arguments can't be carried out. */
  'invalid_arguments',
  /** A process exists for this key with another input. */
  'input_mismatch',
  /** The journal that had answered for this key doesn't know it any more. */
  'absent',
  /** The keeper or the machine died with it. */
  'lost',
  'expired',
  'journal_replaced',
  'journal_doubtful',
  /** The agent was silent for the whole trust window. */
  'trust_window',
  /** Every attempt ended without a value: time-outs, or the server's own failure. */
  'attempt_ended',
  /** The agent did not answer a cancel in time; a settle goes on asking. */
  'agent_silent',
  /** A settle gave up. */
  'settle_gave_up',
  /** A person said so. */
  'operator',
  /** The agent was only asked about a process; reading changes nothing. */
  'read',
  /** The agent's journal holds the sending of a signal; with `unknown` one that it died in. */
  'signalled',
] as const;
export type EvidenceCode = (typeof EVIDENCE_CODES)[number];

export interface Evidence {
  readonly code: EvidenceCode;
  /** One sentence for people, repaired and capped. */
  readonly detail: string;
  /** The target whose word this is, where there is one. */
  readonly target?: Target;
}

/** How a command ended. From the keeper's shell a code of 128 + n can be a signal or a plain exit. */
export interface Exit {
  readonly code: number;
  /** The signal that a code of 128 + n stands for. */
  readonly signal?: string;
  /** Why the agent itself stopped it, if it did. */
  readonly killedBy?: 'cancel' | 'kill_after' | 'signal';
  /** From start to end by the boot clock. */
  readonly durationMs: number;
}

/** What the model reads of an output; the bytes stay at the agent. */
export interface PresentedOutput {
  readonly text: string;
  readonly totalBytes: number;
  readonly omittedBytes: number;
  /** Something still holds the output open and may write more. */
  readonly outputOpen: boolean;
}

/** What `execute` hands back: a value for every ending that has evidence, an exception only for "let go". */
export interface CallOutcome {
  readonly status: ResolvedStatus;
  readonly evidence: Evidence;
  /** The text that the model reads as the call's result; capped and well-formed (E14). */
  readonly text: string;
  readonly exit?: Exit;
  readonly handle?: Handle;
  /** Wall clock of the agent, ISO 8601. */
  readonly startedAt?: string;
  /** Without its text, which is in `text` already. */
  readonly output?: Omit<PresentedOutput, 'text'>;
  /** The target as of the answer that this outcome rests on: fresher than the recorded one. */
  readonly target?: Target;
}

/** The arguments of the `execute` tool, validated and normalised; recorded with the call, so never read again. */
export interface ExecuteRequest {
  readonly command: string;
  readonly timeoutSeconds: number;
  readonly workdir?: string;
  readonly background: boolean;
  readonly onTimeout: 'detach' | 'kill';
  /** Display only; no part of the fingerprint. */
  readonly intent?: string;
  /** What was changed on the way in (a clamped budget), told to the model with the result. */
  readonly notes: readonly string[];
}

/** The arguments of `process_output` and `process_list`, validated; both only read, so they may be asked again. */
export type ProcessRequest =
  | {
      readonly verb: 'output';
      readonly handle: Handle;
      /** Bytes from this absolute offset on; absent: the first and the last ones. */
      readonly fromByte?: number;
      readonly waitSeconds: number;
    }
  | { readonly verb: 'list'; readonly includeEnded: boolean; readonly after?: string };

/** The arguments of `process_signal`, validated; like a command it is carried out at most once (I07). */
export interface SendSignalRequest {
  readonly verb: 'signal';
  readonly handle: Handle;
  readonly signal: SignalName;
}

/** What a call was recorded to do. */
export type CallRequest = ExecuteRequest | ProcessRequest | SendSignalRequest;

/** True for what only reads. */
export function isProcessRequest(request: CallRequest | undefined): request is ProcessRequest {
  return request !== undefined && 'verb' in request && request.verb !== 'signal';
}

export function isSendSignalRequest(request: CallRequest | undefined): request is SendSignalRequest {
  return request !== undefined && 'verb' in request && request.verb === 'signal';
}

/** A committed call of an assistant message, as generateStep and closeStep tell the workflow. */
export interface CommittedCall {
  readonly key: ExecutionKey;
  readonly toolCallId: ToolCallId;
  readonly toolName: string;
  readonly position: number;
  readonly nonce: Nonce;
  /** One line for summaries and lists, such as `$ npm test`. */
  readonly summary: string;
  readonly agentId: AgentId;
  readonly status: CallStatus;
  /** Absent when the arguments were refused; such a call is committed with its result. */
  readonly request?: CallRequest;
  /** Present once recorded: before the dispatch (K5). */
  readonly target?: Target;
  /** Its result is stored; so also while its status is `cancel_requested` and a settle goes on asking. */
  readonly hasResult?: true;
}
