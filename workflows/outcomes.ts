/** The ends of a call that the workflow itself words, because no agent's answer came with a text. */
import type { CallOutcome, CommittedCall, Evidence, EvidenceCode, SendSignalRequest } from '../contract/calls.ts';
import type { RunningCall } from '../contract/activity-interfaces.ts';
import { FAILURE_CHARACTERS_MAX } from '../contract/limits.ts';
import type { Target } from '../contract/target.ts';
import { toSafeText } from '../contract/well-formed.ts';

/** How execute can end without a value: its attempts ended, or no worker took it for the whole trust window. */
export type LostAttemptCode = Extract<EvidenceCode, 'attempt_ended' | 'trust_window'>;

/** Why nobody waits any more for a command that runs. */
export type RunningCode = LostAttemptCode | 'background';

/** `describeAgent` failed and the row has no target, so the call was never dispatched (E10). */
export function notDispatched(call: CommittedCall, cause: string): CallOutcome {
  return {
    status: 'no_effect',
    evidence: evidence('not_dispatched', `agent ${call.agentId} could not be asked for a target: ${cause}`),
    text: safe(
      `[nothing ran: the workspace agent ${call.agentId} could not be reached (${cause}). ` +
        `The command was not sent; it is safe to ask for it again.]`,
    ),
  };
}

/** The turn was interrupted before the call had a target. */
export function canceledBeforeDispatch(): CallOutcome {
  return {
    status: 'canceled',
    evidence: evidence('not_dispatched', 'the turn was interrupted before this call was dispatched'),
    text: '[not run: the turn was interrupted before this command was started]',
  };
}

/** A read that was let go: nothing can have come of it, whoever it had reached. */
export function canceledRead(): CallOutcome {
  return {
    status: 'canceled',
    evidence: evidence('void', 'it was let go before its answer; reading changes nothing'),
    text: '[not read: the turn was interrupted before the answer; nothing was changed]',
  };
}

/** The agent could not be asked about its processes. */
export function notRead(cause: string): CallOutcome {
  return {
    status: 'no_effect',
    evidence: evidence('void', `the agent could not be asked: ${cause}`),
    text: safe(`[not read: the workspace agent did not answer (${cause}). Nothing was changed; ask again.]`),
  };
}

/** A committed call that can't be carried out and came without its result. */
export function withoutRequest(): CallOutcome {
  return {
    status: 'no_effect',
    evidence: evidence('invalid_arguments', 'the call was committed without arguments that can be carried out'),
    text: '[nothing ran: the arguments of this call can not be carried out]',
  };
}

/** What closeStep writes for a call of the step that has no target; here only to be shown. */
export function closedByStore(): Pick<CallOutcome, 'status' | 'evidence'> {
  return {
    status: 'no_effect',
    evidence: evidence('not_dispatched', 'its step was closed before this call was dispatched'),
  };
}

/** The turn was interrupted: what is proven never to have run was canceled by it, whoever fenced it first. */
export function asInterrupted(outcome: CallOutcome): CallOutcome {
  const neverRan = outcome.evidence.code === 'fenced' || outcome.evidence.code === 'void';
  return outcome.status === 'no_effect' && neverRan ? { ...outcome, status: 'canceled' } : outcome;
}

/** Nobody waits for the command any more, and its agent says that it runs: it lives on. */
export function stillRunning(answer: RunningCall, code: RunningCode, cause: string): CallOutcome {
  const { handle, evidence: word } = answer;
  const name = handle === undefined ? '' : ` as process ${handle}`;
  const words = `[still running${name}: nobody waits for it any more (${cause}). Look at its output before you go on.]`;
  return {
    ...answer,
    status: 'detached',
    evidence: {
      ...evidence(code, `${cause}; the agent says that the command runs${name}: ${word.detail}`),
      ...(word.target === undefined ? {} : { target: word.target }),
    },
    text: answer.text ?? safe(words),
  };
}

/** Nobody could say what became of a call that may have been dispatched (K2). */
export function inDoubt(
  code: LostAttemptCode | 'agent_silent' | 'settle_gave_up' | 'operator',
  lost: { readonly target: Target; readonly cause: string; readonly sending?: SendSignalRequest | undefined },
): CallOutcome {
  const { cause, sending, target } = lost;
  const words =
    sending === undefined
      ? `it can not be said whether this command ran or how it ended (${cause}). ` +
        `Check what it would have changed before you run it again.`
      : `it can not be said whether ${sending.signal} was sent to process ${sending.handle} (${cause}). ` +
        `Look at the process before you send another.`;
  return { status: 'unknown', evidence: { ...evidence(code, cause), target }, text: safe(`[unknown: ${words}]`) };
}

/** An end that the ledger refuses: an invariant broke, so nothing is claimed but the text that came with it. */
export function asDefect(outcome: CallOutcome, refusal: string): CallOutcome {
  const { status: _status, ...rest } = outcome;
  const detail = `defect: ${outcome.status} by "${outcome.evidence.code}" was refused, ${refusal}`;
  return {
    ...rest,
    status: 'unknown',
    evidence: { ...outcome.evidence, ...evidence('attempt_ended', detail) },
    text: `${outcome.text}\n[unknown: the record of this call contradicts itself. Check what it changed before you go on.]`,
  };
}

function evidence(code: EvidenceCode, detail: string): Evidence {
  return { code, detail: safe(detail) };
}

function safe(text: string): string {
  return toSafeText(text, FAILURE_CHARACTERS_MAX);
}
