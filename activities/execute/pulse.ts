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
/**
 * An attempt's start counts as a beat at the server, and most commands end before a person could look: those need no
 * beat at all, each of which costs the server a write.
 */
export const FIRST_BEAT_MS_DEFAULT = 200;

export interface Pulse {
  /** Changes the details and beats at once, but for an attempt's first moment; `undefined` takes a field out. */
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
  /** Nothing is sent before; 0: at once. */
  firstBeatMs?: number;
}): Pulse {
  const { heartbeat, clock, heartbeatTimeoutMs, firstBeatMs = FIRST_BEAT_MS_DEFAULT } = options;
  let details = options.details;
  let lastBeatMs = clock.bootMs();
  let isStale = false;
  let isQuiet = firstBeatMs > 0;

  function look() {
    if (clock.bootMs() - lastBeatMs > heartbeatTimeoutMs) isStale = true;
  }
  function beat() {
    look();
    lastBeatMs = clock.bootMs();
    if (!isQuiet) heartbeat(details);
  }
  function open() {
    isQuiet = false;
    beat();
  }

  const opening = isQuiet ? setTimeout(open, Math.min(firstBeatMs, heartbeatTimeoutMs / BEATS_PER_TIMEOUT)) : undefined;
  if (!isQuiet) beat();
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
    stop() {
      clearTimeout(opening);
      clearInterval(timer);
    },
  };
}
