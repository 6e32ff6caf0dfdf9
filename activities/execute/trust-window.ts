/**
 * How long the agent has been away, as far as we can know: the time between tries that failed.
 *
 * A gap of more than a minute between two tries counts as nothing (this process slept, or the machine did), and only a
 * failed try ends the window: a live agent is never called silent by a clock alone (L22, L23).
 */
const GAP_MS_MAX = 60_000;

export interface TrustWindow {
  /** A try failed. True when the window is over. */
  fail(nowMs: number): boolean;
  /** The agent answered: whatever had been counted is void. */
  answer(): void;
  readonly awayMs: number;
}

/** `awayMs`: what earlier attempts had counted, from their heartbeat details. */
export function openTrustWindow(windowMs: number, awayMs = 0): TrustWindow {
  let countedMs = awayMs;
  let lastFailureMs: number | undefined;
  return {
    fail(nowMs) {
      const gapMs = lastFailureMs === undefined ? 0 : nowMs - lastFailureMs;
      if (gapMs > 0 && gapMs <= GAP_MS_MAX) countedMs += gapMs;
      lastFailureMs = nowMs;
      return countedMs >= windowMs;
    },
    answer() {
      countedMs = 0;
      lastFailureMs = undefined;
    },
    get awayMs() {
      return countedMs;
    },
  };
}
