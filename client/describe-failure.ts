import { CodedError, FAILURES, findFailureCode } from '../contract/failures.ts';

/** A failure for a person: the cause, then what to do about it, once. */
export function describeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = findFailureCode(error);
  // A configuration failure says its own next step: which setting it is. So does a server's that names its setting.
  const namesSetting = code === 'temporal_unreachable' && error instanceof CodedError && error.field !== undefined;
  if (code === undefined || code === 'configuration' || namesSetting) return message;
  return `${message}\n  ${FAILURES[code].nextStep}`;
}
