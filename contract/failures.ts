/**
 * The one table of stable codes. Across a process boundary match on the code, never on a class.
 *
 * Kinds, by who must act: `refusal` (the caller; nothing changed) · `conflict` (the key's own state answers) ·
 * `fault` (try again with the same key) · `in_doubt` (ask before you try again) · `defect` (an invariant broke).
 */

export type FailureKind = 'refusal' | 'conflict' | 'fault' | 'in_doubt' | 'defect';

interface FailureEntry {
  readonly kind: FailureKind;
  /** HTTP status of an agent's answer with this code. */
  readonly status: number;
  /** What a person does about it. */
  readonly nextStep: string;
}

export const FAILURES = {
  bad_request: { kind: 'refusal', status: 400, nextStep: 'Correct the named field and send it again.' },
  unauthorized: { kind: 'refusal', status: 401, nextStep: 'Send the bearer token that the agent was started with.' },
  unknown_verb: { kind: 'refusal', status: 404, nextStep: 'See docs/protocol.md for the verbs.' },
  unknown_process: { kind: 'refusal', status: 404, nextStep: 'List the processes of this chat.' },
  body_too_large: { kind: 'refusal', status: 400, nextStep: 'Send less; put long text in a file of the workspace.' },
  input_mismatch: {
    kind: 'defect',
    status: 409,
    nextStep: 'Use a new key for another input; look at the first call of this key before you do.',
  },
  start_pending: { kind: 'fault', status: 409, nextStep: 'Ask again with the same key.' },
  canceled: { kind: 'conflict', status: 409, nextStep: 'The key was fenced: it ran nothing and never will.' },
  journal_replaced: {
    kind: 'in_doubt',
    status: 409,
    nextStep: 'The journal that took the call is gone: check by hand what ran before running it again.',
  },
  journal_doubtful: {
    kind: 'in_doubt',
    status: 409,
    nextStep: 'The machine restarted while the start was on its way: check by hand before running it again.',
  },
  expired: { kind: 'in_doubt', status: 409, nextStep: 'The record of this key is older than what is kept.' },
  spawn_failed: { kind: 'conflict', status: 409, nextStep: 'Correct the cause and use a new key.' },
  not_ready: {
    kind: 'fault',
    status: 503,
    nextStep: 'The start-up script of the workspace still runs; ask again when it has ended.',
  },
  too_busy: { kind: 'fault', status: 503, nextStep: 'Ask again in a moment.' },
  disk_full: { kind: 'fault', status: 507, nextStep: "Free space where the agent's state folder is, then try again." },
  closing: { kind: 'fault', status: 503, nextStep: 'The agent is shutting down; ask again when it is back.' },
  agent_defect: { kind: 'defect', status: 500, nextStep: "Read the agent's log and report it." },
  agent_unreachable: { kind: 'fault', status: 0, nextStep: 'Start the agent: latchkey agent --workspace DIR.' },
  turn_closed: { kind: 'refusal', status: 409, nextStep: 'The turn has ended; only its stored results can be read.' },
  chat_busy: { kind: 'refusal', status: 409, nextStep: 'Wait until the running turn of this chat has ended.' },
  unknown_chat: { kind: 'refusal', status: 404, nextStep: 'List the chats: latchkey chats.' },
  unknown_message: {
    kind: 'refusal',
    status: 404,
    nextStep: 'Read the chat again: the message may have been hidden by an edit.',
  },
  queue_full: { kind: 'refusal', status: 409, nextStep: 'Wait until a message was taken, or delete one of the queue.' },
  chat_archived: { kind: 'refusal', status: 409, nextStep: 'Open the chat again before you send to it.' },
  step_closed: { kind: 'refusal', status: 409, nextStep: 'The step was closed; its stored results stand.' },
  turn_lost: {
    kind: 'in_doubt',
    status: 0,
    nextStep: 'The work on the turn was ended from outside, such as by a terminate; send the message again.',
  },
  call_running: { kind: 'refusal', status: 409, nextStep: 'Interrupt the turn, or cancel the call, to stop it.' },
  not_proven: {
    kind: 'refusal',
    status: 409,
    nextStep: 'Bring the agent back, or resolve the call as "unknown".',
  },
  store_rolled_back: {
    kind: 'in_doubt',
    status: 409,
    nextStep: 'The store is older than what the agent has seen; restore the newer store, or send the message again.',
  },
  invariant_broken: {
    kind: 'defect',
    status: 500,
    nextStep: "Read the worker's log and report it; nothing was changed.",
  },
  configuration: { kind: 'refusal', status: 400, nextStep: 'Correct the named setting.' },
  temporal_unreachable: {
    kind: 'fault',
    status: 0,
    nextStep: 'Start a Temporal server, or set TEMPORAL_ADDRESS to one that runs.',
  },
  model_refused: { kind: 'refusal', status: 0, nextStep: "Read the provider's message." },
  model_unauthorized: {
    kind: 'refusal',
    status: 0,
    nextStep: "Check the provider's API key that the turn worker was started with, and what it may use.",
  },
  model_quota_exhausted: {
    kind: 'refusal',
    status: 0,
    nextStep: "Look at the provider account's credit and limits, then send the message again.",
  },
  model_context_too_long: {
    kind: 'refusal',
    status: 0,
    nextStep: 'Edit the message that is too long, or go on in a new chat, or with a model that takes more.',
  },
  notice_refused: {
    kind: 'refusal',
    status: 0,
    nextStep: 'Correct LATCHKEY_WEBHOOK_URL, LATCHKEY_WEBHOOK_SECRET or their receiver; this notice is not sent again.',
  },
  notice_undelivered: {
    kind: 'fault',
    status: 0,
    nextStep: 'See whether the receiver at LATCHKEY_WEBHOOK_URL works; the notice is sent again.',
  },
  model_rate_limited: { kind: 'fault', status: 0, nextStep: 'Wait a while, then send the message again.' },
  model_unavailable: {
    kind: 'fault',
    status: 0,
    nextStep: 'See whether the provider works, then send the message again.',
  },
} as const satisfies Record<string, FailureEntry>;

export type FailureCode = keyof typeof FAILURES;

export function isFailureCode(text: unknown): text is FailureCode {
  return typeof text === 'string' && Object.hasOwn(FAILURES, text);
}

/** A failure with a stable code. `field` names what the caller should look at. */
export class CodedError extends Error {
  readonly code: FailureCode;
  readonly field: string | undefined;

  constructor(code: FailureCode, message: string, field?: string) {
    super(message);
    this.name = 'CodedError';
    this.code = code;
    this.field = field;
  }
}

/** The caller asked for something that can't be done; nothing changed. */
export class Refusal extends CodedError {
  constructor(code: FailureCode, message: string, field?: string) {
    super(code, message, field);
    this.name = 'Refusal';
  }
}

/** Reads the code of any error, also one that crossed a bundle or module border; undefined for foreign errors. */
export function findFailureCode(error: unknown): FailureCode | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const code = (error as { code?: unknown }).code;
  return isFailureCode(code) ? code : undefined;
}
