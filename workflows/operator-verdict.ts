/** What a person's word about a call is worth beside what its agent says: evidence wins (design §5). Pure. */
import type { CallOutcome } from '../contract/calls.ts';
import type { FailureCode } from '../contract/failures.ts';
import { FAILURE_CHARACTERS_MAX } from '../contract/limits.ts';
import type { ResolveCallRequest } from '../contract/operator.ts';
import type { Target } from '../contract/target.ts';
import { toSafeText } from '../contract/well-formed.ts';
import { describeSilence, findEnd } from './ask-agent.ts';
import type { AgentAnswer } from './ask-agent.ts';

export type Verdict =
  | { readonly kind: 'refused'; readonly code: FailureCode; readonly message: string }
  | {
      readonly kind: 'ended';
      readonly outcome: CallOutcome;
      readonly isOperatorsWord: boolean;
      readonly message: string;
      /** The agent has not spoken, so something may still start or end: a settle goes with it (K7). */
      readonly needsSettle: boolean;
    };

/** `answer`: what the agent said to a fence. A fence that was answered proves what never ran. */
export function judge(request: ResolveCallRequest, answer: AgentAnswer, target: Target): Verdict {
  const cause = `${request.who} asked for it: ${request.why}`;
  const end = findEnd(answer, 'attempt_ended', safe(cause));
  if (end === undefined) return judgeSilence(request, describeSilence(answer), target);
  if (end.status === 'detached' && request.as !== 'unknown') {
    return { kind: 'refused', code: 'call_running', message: `the call still runs (${end.evidence.detail})` };
  }
  const ranNothing = end.status === 'no_effect' && end.evidence.code !== 'input_mismatch';
  if (request.as === 'not_run' && ranNothing) {
    const evidence = { ...end.evidence, detail: safe(`${end.evidence.detail} (${cause})`) };
    return ended({ ...end, evidence }, true, `its agent proves that it never ran and never will`);
  }
  if (end.status === 'unknown') {
    if (request.as === 'not_run') {
      return { kind: 'refused', code: 'not_proven', message: `its agent can't tell (${end.evidence.detail})` };
    }
    if (request.as === 'exit') return ended(personsWord(request, target), true, 'its agent has no other word');
  }
  return ended(end, false, `its agent says otherwise: ${end.evidence.detail}`);
}

function judgeSilence(request: ResolveCallRequest, silence: string, target: Target): Verdict {
  if (request.as === 'not_run') {
    return { kind: 'refused', code: 'not_proven', message: `only its agent can prove that it never ran: ${silence}` };
  }
  const message = `its agent did not say (${silence}); a settle goes on asking`;
  return { ...ended(personsWord(request, target), true, message), needsSettle: true };
}

type Ended = Extract<Verdict, { kind: 'ended' }>;

function ended(outcome: CallOutcome, isOperatorsWord: boolean, how: string): Ended {
  const message = safe(`the call is ${outcome.status}; ${how}`);
  return { kind: 'ended', outcome, isOperatorsWord, message, needsSettle: false };
}

/** An end that only a person vouches for. */
export function personsWord({ as, exitCode, who, why }: ResolveCallRequest, target: Target): CallOutcome {
  const what = as === 'exit' ? `it exited with ${exitCode ?? 0}` : 'its end is not known';
  const evidence = { code: 'operator', detail: safe(`${who} says that ${what}: ${why}`), target } as const;
  if (as !== 'exit') {
    return {
      status: 'unknown',
      evidence,
      text: safe(
        `[unknown: ${who} ended the wait for this command (${why}). It may have run, wholly or in part. ` +
          `Check what it would have changed before you run it again.]`,
      ),
    };
  }
  const code = exitCode ?? 0;
  return {
    status: 'exited',
    evidence,
    text: safe(`[exit code ${code}, by the word of ${who}: ${why}. Its output is not known.]`),
    exit: { code, durationMs: 0 },
  };
}

function safe(text: string): string {
  return toSafeText(text, FAILURE_CHARACTERS_MAX);
}
