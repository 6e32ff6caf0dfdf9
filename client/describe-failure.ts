import { FAILURES, findFailureCode } from '../contract/failures.ts';

/** A failure for a person: the cause, then what to do about it. */
export function describeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = findFailureCode(error);
  // A configuration failure says its own next step: which setting it is.
  if (code === undefined || code === 'configuration') return message;
  return `${message}\n  ${FAILURES[code].nextStep}`;
}
