/**
 * The last guard before an activity's end leaves the worker. A lone surrogate in a failure's text stops a whole worker
 * and its retry meets the same text again (shared/notes/temporal-live.md A1); a result that is too large is thrown
 * away by the server (A7).
 */
import { ApplicationFailure, CancelledFailure, CompleteAsyncError } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { applicationFailure } from '../activities/failure.ts';
import { findFailureCode } from '../contract/failures.ts';
import { FAILURE_CHARACTERS_MAX } from '../contract/limits.ts';
import { toSafeText } from '../contract/well-formed.ts';

/** Half of Temporal's default limit for a payload. What we return on purpose is far smaller; more is a defect. */
const RESULT_BYTES_MAX = 1024 * 1024;
const CAUSES_MAX = 4;

export const guardActivity: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    async execute(input, next) {
      let result: unknown;
      try {
        result = await next(input);
      } catch (error) {
        throw toSafeFailure(error);
      }
      const bytes = Buffer.byteLength(JSON.stringify(result) ?? '');
      if (bytes <= RESULT_BYTES_MAX) return result;
      throw applicationFailure('invariant_broken', `${info.activityType} returned ${bytes} bytes.`);
    },
  },
});

/** The same failure with every text repaired and capped. Letting go (a cancellation) stays what it is: the SDK reads its class. */
export function toSafeFailure(error: unknown, causesLeft = CAUSES_MAX): Error {
  if (error instanceof CompleteAsyncError) return error;
  if (error instanceof CancelledFailure || (error instanceof Error && error.name === 'AbortError')) {
    return error.message.isWellFormed() ? error : new CancelledFailure(safe(error.message));
  }
  const known = error instanceof ApplicationFailure ? error : undefined;
  const original = error instanceof Error ? error : new Error(String(error));
  const { cause } = original;
  const failure = ApplicationFailure.create({
    message: safe(original.message),
    type: safe(known?.type ?? findFailureCode(error) ?? original.name),
    nonRetryable: known?.nonRetryable ?? false,
    ...(known?.details && { details: known.details }),
    ...(known?.nextRetryDelay && { nextRetryDelay: known.nextRetryDelay }),
    ...(known?.category && { category: known.category }),
    ...(cause instanceof Error && causesLeft > 0 && { cause: toSafeFailure(cause, causesLeft - 1) }),
  });
  failure.stack = safe(original.stack ?? '');
  return failure;
}

function safe(text: string): string {
  return toSafeText(text, FAILURE_CHARACTERS_MAX);
}
