import { CodedError, FAILURES, findFailureCode } from '../contract/failures.ts';
import { applicationFailure } from './failure.ts';

/** An error with one of our codes as a failure, retried only if its kind is `fault`; any other error as it is. */
export function toActivityFailure(error: unknown): unknown {
  const code = findFailureCode(error);
  if (code === undefined) return error;
  const message = error instanceof Error ? error.message : String(error);
  // The next step follows it as a sentence of its own.
  return applicationFailure(code, /[.!?]$/.test(message) ? message : `${message}.`, {
    retryable: FAILURES[code].kind === 'fault',
    field: error instanceof CodedError ? error.field : undefined,
  });
}

/** Runs an activity's work; what it throws leaves as a failure that the workflow can tell by its code. */
export async function withActivityFailures<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toActivityFailure(error);
  }
}
