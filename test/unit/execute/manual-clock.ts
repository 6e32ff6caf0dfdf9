import type { Clock } from '../../../activities/execute/clock.ts';

/** Time passes only by sleeping in it, or by `advance`. */
export function createManualClock(): Clock & { advance(ms: number): void } {
  let nowMs = 1_000_000;
  return {
    bootMs: () => nowMs,
    wallMs: () => Date.UTC(2026, 0, 1) + nowMs,
    async sleep(ms, signal) {
      signal.throwIfAborted();
      nowMs += ms;
      // A turn of the event loop, so that a cancel gets its chance.
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    },
    advance(ms) {
      nowMs += ms;
    },
  };
}
