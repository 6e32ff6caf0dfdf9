import { ApplicationFailure } from '@temporalio/common';
import { FAILURES } from '../contract/failures.ts';
import type { FailureCode } from '../contract/failures.ts';
import { FAILURE_CHARACTERS_MAX } from '../contract/limits.ts';
import { toSafeText } from '../contract/well-formed.ts';

/**
 * The one way for an activity to fail on purpose. The code becomes the failure's type; the text is repaired and
 * capped, since a lone surrogate in it stops a whole worker (A1 of shared/notes/temporal-live.md).
 */
export function applicationFailure(
  code: FailureCode,
  message: string,
  options: {
    readonly retryable?: boolean;
    readonly nextRetryDelayMs?: number | undefined;
    /** What the caller should look at; crosses as the failure's one detail. */
    readonly field?: string | undefined;
  } = {},
): ApplicationFailure {
  return ApplicationFailure.create({
    type: code,
    message: toSafeText(`${message} ${FAILURES[code].nextStep}`, FAILURE_CHARACTERS_MAX),
    nonRetryable: options.retryable !== true,
    ...(options.field === undefined ? {} : { details: [{ field: options.field }] }),
    ...(options.nextRetryDelayMs === undefined ? {} : { nextRetryDelay: options.nextRetryDelayMs }),
  });
}
