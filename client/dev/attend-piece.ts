/** Starts a piece again each time it ends, with a growing pause between two starts that didn't last. */
import { setTimeout as delay } from 'node:timers/promises';
import type { PieceToStart, RunningPiece, Say } from './running-piece.ts';

const PAUSE_MS_FIRST = 500;
const PAUSE_MS_MAX = 30_000;
/** After so long a life an end is news and no repetition. */
const LASTING_MS = 60_000;

export interface Attended {
  readonly current: () => RunningPiece | undefined;
  /** Resolves after `stopping`, when nothing is being started any more. */
  readonly done: Promise<void>;
}

export function attendPiece(
  piece: PieceToStart,
  first: RunningPiece,
  options: { readonly stopping: AbortSignal; readonly say: Say; readonly onChange: () => void },
): Attended {
  const { stopping, say, onChange } = options;
  let current: RunningPiece | undefined = first;
  const stopped = new Promise<void>((resolve) => stopping.addEventListener('abort', () => resolve(), { once: true }));

  async function attend(): Promise<void> {
    let pauseMs = PAUSE_MS_FIRST;
    let startedMs = performance.now();
    while (!stopping.aborted) {
      const how: string = (await Promise.race([current?.ended, stopped])) ?? 'is not there';
      if (stopping.aborted) return;
      if (current !== undefined && performance.now() - startedMs > LASTING_MS) pauseMs = PAUSE_MS_FIRST;
      current = undefined;
      onChange();
      say(piece.name, `${how}; starting it again in ${pauseMs / 1000} s`);
      await delay(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
      if (stopping.aborted) return;
      startedMs = performance.now();
      try {
        current = await piece.start(stopping);
        say(piece.name, current.detail);
      } catch (error) {
        if (!stopping.aborted) say(piece.name, error instanceof Error ? error.message : String(error));
      }
      onChange();
    }
  }

  return { current: () => current, done: attend() };
}
