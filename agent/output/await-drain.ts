/**
 * Waits, after a command's exit, for its reader to have written everything. Completion is the exit file, never the
 * end-of-file: a background child may hold the output for ever (R1), and the reader lags behind under load (C07).
 */
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readTotals } from './read-totals.ts';

/** With nothing of the command left alive only the reader itself can be late. */
const READER_LAG_MS_MAX = 30_000;
/** With somebody holding the output: until the reader was quiet for so long, at most so long after the exit. */
const QUIET_MS = 250;
const HELD_MS_MAX = 2000;
/** The reader is usually done within a few milliseconds; a look at the process table costs more than that. */
const POLL_MS_FIRST = 2;
const POLL_MS_MAX = 50;

/**
 * Whether the output has no reader any more: then nobody writes what was still in the pipe. The reader holds its end
 * from before it is forked, so an open for writing fails only when it is gone.
 */
export function isReaderGone(folder: string): boolean {
  try {
    closeSync(openSync(join(folder, 'output'), constants.O_WRONLY | constants.O_NONBLOCK));
    return false;
  } catch (error) {
    // Without the FIFO no keeper has come so far as to have a reader.
    return ['ENXIO', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

export async function awaitDrain(
  folder: string,
  options: {
    readonly endedAgoMs: number;
    readonly hasHolder: () => Promise<boolean>;
    readonly signal: AbortSignal;
    readonly segmentBytes: number;
  },
): Promise<void> {
  const began = performance.now();
  let pollMs = POLL_MS_FIRST;
  let lastTotal = -1;
  let quietSince = began;
  while (!options.signal.aborted) {
    const totals = await readTotals(folder, options.segmentBytes);
    if (totals.isDrained || isReaderGone(folder)) return;
    const now = performance.now();
    const sinceExitMs = options.endedAgoMs + now - began;
    if (totals.total !== lastTotal) quietSince = now;
    lastTotal = totals.total;
    if (sinceExitMs >= READER_LAG_MS_MAX) return;
    const isPastHolding = sinceExitMs >= HELD_MS_MAX || (pollMs === POLL_MS_MAX && now - quietSince >= QUIET_MS);
    if (isPastHolding && (await options.hasHolder())) return;
    await delay(pollMs);
    pollMs = Math.min(pollMs * 2, POLL_MS_MAX);
  }
}
