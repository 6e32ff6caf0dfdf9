/** Whether our own signal ended a command, or it ended by itself while we were at it: a real exit wins. */
import type { KillCause } from '../journal/call-rows.ts';

/** Grain of the boot clock: an exit within it of our signal may have come first. */
const CLOCK_GRAIN_MS = 20;

/**
 * The cause, when a signal of ours ended the command: it shows in the code (128 + TERM or KILL), or the command went
 * on for a while after the signal (a trap cleaned up and chose the code).
 */
export function killedByOf(end: {
  readonly code: number;
  readonly endedBootMs: number | undefined;
  readonly intent: KillCause | null;
  readonly signalledBootMs: number | undefined;
}): KillCause | undefined {
  if (end.intent === null) return undefined;
  // Somebody asked for a signal by name: any code of a death by signal is then its doing.
  if (end.intent === 'signal' && end.code > 128) return end.intent;
  if (end.code === 128 + 15 || end.code === 128 + 9) return end.intent;
  if (end.signalledBootMs === undefined || end.endedBootMs === undefined) return undefined;
  return end.endedBootMs > end.signalledBootMs + CLOCK_GRAIN_MS ? end.intent : undefined;
}
