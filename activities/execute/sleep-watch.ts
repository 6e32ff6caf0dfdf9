/**
 * Notices that this process was stopped (a closed lid, SIGSTOP, a paused virtual machine), by a timer that came late.
 *
 * The polls of a stopped worker stay open, so the server hands it tasks and gives them up again; it finds them when it
 * wakes, with no word of how old they are. A fresh attempt is not fresh then: its call may be resolved (L22, I03).
 */
import { systemClock } from './clock.ts';

const LOOK_MS = 250;
/** What lay ready at the wake-up is taken up within this time. */
const WAKE_MS = 1000;

export interface SleepWatch {
  /** How long to wait until no task of a sleep of more than `ms` can be taken up any more; 0 when there was none. */
  leftAfterSleepMs(ms: number): number;
}

/** For the life of the process; keeps it from ending by nothing. */
export function watchSleep(bootMs: () => number = systemClock.bootMs): SleepWatch {
  let lookedAtMs = bootMs();
  let longest = { sleepMs: 0, wokeAtMs: -Infinity };

  function look(): number {
    const nowMs = bootMs();
    const sleepMs = nowMs - lookedAtMs;
    lookedAtMs = nowMs;
    if (sleepMs >= longest.sleepMs || nowMs - longest.wokeAtMs >= WAKE_MS) longest = { sleepMs, wokeAtMs: nowMs };
    return nowMs;
  }

  setInterval(look, LOOK_MS).unref();
  return {
    leftAfterSleepMs(ms) {
      const nowMs = look();
      return longest.sleepMs > ms ? Math.max(0, longest.wokeAtMs + WAKE_MS - nowMs) : 0;
    },
  };
}
