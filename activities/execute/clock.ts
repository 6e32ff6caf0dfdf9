import { readFileSync } from 'node:fs';

/** Injected, so that a trust window of half an hour can be tested in milliseconds. */
export interface Clock {
  /** Milliseconds since boot; goes on while the machine is suspended, and no wall clock jump moves it. */
  bootMs(): number;
  wallMs(): number;
  /** Throws the signal's reason when it aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  bootMs() {
    try {
      // Node's own clocks are CLOCK_MONOTONIC, which stands still while a laptop sleeps.
      return Math.round(Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1000);
    } catch {
      // No /proc (not Linux): the next best clock that no one can set.
      return Math.round(performance.now());
    }
  },
  wallMs: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      }, ms);
      function giveUp() {
        clearTimeout(timer);
        reject(signal.reason as Error);
      }
      signal.addEventListener('abort', giveUp, { once: true });
    }),
};
