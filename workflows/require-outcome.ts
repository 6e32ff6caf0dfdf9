/**
 * What an activity ended with, looked at once. A person can end a pending activity from outside with any value
 * (`temporal activity complete`, the UI): read as an outcome it would throw in the main loop, and the turn's task would
 * be retried for ever. What has not the shape of an outcome counts as an attempt that ended without one: the agent is asked.
 */
import { RESOLVED_STATUSES } from '../contract/calls.ts';
import type { CallOutcome } from '../contract/calls.ts';
import type { CancelCallResult } from '../contract/activity-interfaces.ts';

const BY_HAND = 'its activity was ended from outside, by a value that is no outcome';

export function requireOutcome(value: CallOutcome): CallOutcome {
  const { status, text } = fieldsOf(value);
  if (!hasEvidence(value) || typeof text !== 'string' || !isOneOf(RESOLVED_STATUSES, status)) throw new Error(BY_HAND);
  return value;
}

/** The same for the agent's answer to a cancel, which may be that it runs. */
export function requireAnswer(value: CancelCallResult): CancelCallResult {
  const { outcome } = fieldsOf(value);
  const { status } = fieldsOf(outcome);
  if (status === 'running') {
    if (!hasEvidence(outcome)) throw new Error(BY_HAND);
  } else requireOutcome(outcome as CallOutcome);
  return value;
}

function hasEvidence(value: unknown): boolean {
  const { code, detail } = fieldsOf(fieldsOf(value)['evidence']);
  return typeof code === 'string' && typeof detail === 'string';
}

function isOneOf(known: readonly string[], value: unknown): boolean {
  return typeof value === 'string' && known.includes(value);
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
