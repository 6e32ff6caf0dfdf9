/** Times for people. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** `14:03:22`, local. */
export function timeOfDay(at: string | number | Date = new Date()): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** `0.3 s`, `42 s`, `2 min 05 s`, `1 h 04 min`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 10 * SECOND) return `${(Math.max(durationMs, 0) / SECOND).toFixed(1)} s`;
  if (durationMs < MINUTE) return `${Math.floor(durationMs / SECOND)} s`;
  if (durationMs < HOUR) return `${Math.floor(durationMs / MINUTE)} min ${twoDigits((durationMs % MINUTE) / SECOND)} s`;
  return `${Math.floor(durationMs / HOUR)} h ${twoDigits((durationMs % HOUR) / MINUTE)} min`;
}

function twoDigits(value: number): string {
  return String(Math.floor(value)).padStart(2, '0');
}
