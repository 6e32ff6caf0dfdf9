/**
 * The attempt's heartbeat: beaten by a timer, never by output, so a silent command has one.
 *
 * It also knows whether this attempt may still send a `start`. An attempt that missed its own heartbeat time-out (a
 * stopped process, a closed lid) has probably been replaced; it stays stale for good, also when it beats again.
 */
import type { ExecuteHeartbeat } from '../../contract/turn.ts';
import { applicationFailure } from '../failure.ts';
import type { Clock } from './clock.ts';

const BEAT_INTERVAL_MS_MAX = 1000;
const BEATS_PER_TIMEOUT = 4;

export interface Pulse {
  /** Changes the details and beats at once; `undefined` takes a field out. */
  tell(change: { [Field in keyof ExecuteHeartbeat]?: ExecuteHeartbeat[Field] | undefined }): void;
  /** Throws, so that the next attempt takes over, when this one has not beaten in time. */
  requireLive(): void;
  stop(): void;
}

export function startPulse(options: {
  heartbeat: (details: ExecuteHeartbeat) => void;
  clock: Clock;
  heartbeatTimeoutMs: number;
  details: ExecuteHeartbeat;
}): Pulse {
  const { heartbeat, clock, heartbeatTimeoutMs } = options;
  let details = options.details;
  let lastBeatMs = clock.bootMs();
  let isStale = false;

  function look() {
    if (clock.bootMs() - lastBeatMs > heartbeatTimeoutMs) isStale = true;
  }
  function beat() {
    look();
    lastBeatMs = clock.bootMs();
    heartbeat(details);
  }

  beat();
  const timer = setInterval(beat, Math.min(BEAT_INTERVAL_MS_MAX, heartbeatTimeoutMs / BEATS_PER_TIMEOUT));
  return {
    tell(change) {
      const merged = Object.entries({ ...details, ...change }).filter(([, value]) => value !== undefined);
      details = Object.fromEntries(merged) as unknown as ExecuteHeartbeat;
      beat();
    },
    requireLive() {
      look();
      if (!isStale) return;
      throw applicationFailure(
        'start_pending',
        `this attempt did not beat for more than ${heartbeatTimeoutMs} ms, so it starts nothing; the next one asks.`,
        { retryable: true },
      );
    },
    stop: () => clearInterval(timer),
  };
}
