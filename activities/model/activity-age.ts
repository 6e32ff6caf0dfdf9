import type { Info } from '@temporalio/activity';

/**
 * Starts counting the time since the activity was first scheduled, so that waiting for a worker and earlier attempts
 * count. The worker's wall clock may be off, so the server's own two times are the least that it can be, and what
 * passes from now on is measured by the monotonic clock. Never negative.
 */
export function startAge(info: Info, now: () => number): () => number {
  const betweenAttemptsMs = info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs;
  const byWallClockMs = now() - info.scheduledTimestampMs;
  const atStartMs = Math.max(0, betweenAttemptsMs, byWallClockMs);
  const startedMs = performance.now();
  return () => atStartMs + (performance.now() - startedMs);
}
