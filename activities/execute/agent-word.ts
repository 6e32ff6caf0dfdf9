/** What a structured refusal of the agent is worth: the table of design §5, one row a code. */
import type { AgentError } from '../../agent-client/agent-errors.ts';
import type { EvidenceCode } from '../../contract/calls.ts';
import type { FailureCode } from '../../contract/failures.ts';
import type { Target } from '../../contract/target.ts';

export type AgentWord =
  /** The call's end, by the word of its own journal. */
  | { readonly kind: 'end'; readonly status: 'no_effect' | 'unknown'; readonly code: EvidenceCode }
  /** Still being launched: ask again. */
  | { readonly kind: 'pending' }
  /** The request as such was refused; whether an earlier one was taken, only a fence tells. */
  | { readonly kind: 'refused' }
  /** No more than a transport error (K5). */
  | { readonly kind: 'nothing' };

const NOTHING: AgentWord = { kind: 'nothing' };
const REFUSED: AgentWord = { kind: 'refused' };

/** Every code that isn't here is worth nothing. */
const WORDS: Partial<Record<FailureCode, AgentWord>> = {
  input_mismatch: { kind: 'end', status: 'no_effect', code: 'input_mismatch' },
  canceled: { kind: 'end', status: 'no_effect', code: 'fenced' },
  spawn_failed: { kind: 'end', status: 'no_effect', code: 'spawn_failed' },
  journal_replaced: { kind: 'end', status: 'unknown', code: 'journal_replaced' },
  journal_doubtful: { kind: 'end', status: 'unknown', code: 'journal_doubtful' },
  expired: { kind: 'end', status: 'unknown', code: 'expired' },
  unknown_process: { kind: 'end', status: 'unknown', code: 'absent' },
  start_pending: { kind: 'pending' },
  not_ready: { kind: 'pending' },
  bad_request: REFUSED,
  body_too_large: REFUSED,
};

/** K5: only the journal that was dispatched to gives evidence, and only its own agent can say that it is gone (E12, L26). */
export function wordOf(error: AgentError, target: Target): AgentWord {
  if (error.answeredBy.agentId !== target.agentId) return NOTHING;
  if (error.code !== 'journal_replaced' && error.answeredBy.journalId !== target.journalId) return NOTHING;
  return WORDS[error.code] ?? NOTHING;
}
