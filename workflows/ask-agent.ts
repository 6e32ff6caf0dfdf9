/** Asking a call's own agent for its end, and what its answer, or its silence, makes of the call (K7). */
import type { CancelCallInput, CancelCallResult } from '../contract/activity-interfaces.ts';
import type { CallOutcome } from '../contract/calls.ts';
import { controlActivities } from './activity-options.ts';
import { describeError } from './errors.ts';
import { Pending } from './interrupt.ts';
import type { Ending } from './interrupt.ts';
import { requireAnswer } from './require-outcome.ts';
import { stillRunning } from './outcomes.ts';
import type { RunningCode } from './outcomes.ts';

export interface Question extends CancelCallInput {
  readonly tryForMs: number;
}

export function askToCancel({ tryForMs, ...input }: Question): Pending<CancelCallResult> {
  // The target's agent, not the chat's: a call stays with the agent it was dispatched to (E12).
  const control = controlActivities(input.target.agentId, tryForMs, `${input.mode} ${input.key}`);
  return new Pending(async () => requireAnswer(await control.cancelCall(input)));
}

export type AgentAnswer = Ending<CancelCallResult> | undefined;

/** The call's end by its agent's word; undefined when the agent did not say. `code`, `cause`: why nobody waits for it. */
export function findEnd(answer: AgentAnswer, code: RunningCode, cause: string): CallOutcome | undefined {
  if (answer === undefined || 'error' in answer) return undefined;
  const { outcome } = answer.value;
  return outcome.status === 'running' ? stillRunning(outcome, code, cause) : outcome;
}

export function describeSilence(answer: AgentAnswer): string {
  if (answer !== undefined && 'error' in answer) return describeError(answer.error);
  return 'no answer in time';
}
