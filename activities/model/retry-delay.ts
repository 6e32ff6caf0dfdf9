import type { Info } from '@temporalio/activity';

export interface RetryDelay {
  readonly ms: number;
  /** The provider asked for more than the policy's own delay, so the failure must say it. */
  readonly isAskedFor: boolean;
}

/** Temporal's own defaults, for a policy that leaves them out. */
const INITIAL_MS_DEFAULT = 1000;
const MAXIMUM_FACTOR_DEFAULT = 100;

/** What is waited before the attempt after this one; undefined when there is none. Retry-After is the minimum. */
export function findRetryDelay(
  { attempt, retryPolicy = {} }: Pick<Info, 'attempt' | 'retryPolicy'>,
  retryAfterMs = 0,
): RetryDelay | undefined {
  const { maximumAttempts, backoffCoefficient = 2 } = retryPolicy;
  // On the wire 0 means without limit.
  if (maximumAttempts && attempt >= maximumAttempts) return undefined;
  const initialMs = readMs(retryPolicy.initialInterval) ?? INITIAL_MS_DEFAULT;
  const maximumMs = readMs(retryPolicy.maximumInterval) ?? initialMs * MAXIMUM_FACTOR_DEFAULT;
  const ownMs = Math.min(initialMs * backoffCoefficient ** (attempt - 1), maximumMs);
  return { ms: Math.max(ownMs, retryAfterMs), isAskedFor: retryAfterMs > ownMs };
}

/** An activity is told its policy in milliseconds; the type allows text, which only those who write one use. */
function readMs(duration: string | number | undefined): number | undefined {
  return typeof duration === 'number' ? duration : undefined;
}
