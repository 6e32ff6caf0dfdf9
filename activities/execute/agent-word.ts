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

const WORDS: Record<FailureCode, AgentWord> = {
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
  unauthorized: NOTHING,
  unknown_verb: NOTHING,
  too_busy: NOTHING,
  disk_full: NOTHING,
  closing: NOTHING,
  agent_defect: NOTHING,
  agent_unreachable: NOTHING,
  turn_closed: NOTHING,
  chat_busy: NOTHING,
  step_closed: NOTHING,
  turn_lost: NOTHING,
  call_running: NOTHING,
  not_proven: NOTHING,
  store_rolled_back: NOTHING,
  configuration: NOTHING,
  temporal_unreachable: NOTHING,
  model_refused: NOTHING,
  model_unauthorized: NOTHING,
  model_quota_exhausted: NOTHING,
  model_context_too_long: NOTHING,
  model_rate_limited: NOTHING,
  model_unavailable: NOTHING,
  invariant_broken: NOTHING,
};

/** K5: only the journal that was dispatched to gives evidence, and only its own agent can say that it is gone (E12, L26). */
export function wordOf(error: AgentError, target: Target): AgentWord {
  if (error.answeredBy.agentId !== target.agentId) return NOTHING;
  if (error.code !== 'journal_replaced' && error.answeredBy.journalId !== target.journalId) return NOTHING;
  return WORDS[error.code];
}
