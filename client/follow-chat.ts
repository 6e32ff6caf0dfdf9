/** A chat's frames for as long as somebody listens: when the source breaks off, it is joined again by the cursor (S1). */
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '../contract/failures.ts';
import type { ChatFrame, FollowInput } from './open-store.ts';

const FIRST_PAUSE_MS = 100;
const PAUSE_MS_MAX = 5000;

export type FollowFrom = (input: FollowInput) => AsyncIterable<ChatFrame>;

export interface FollowOptions extends FollowInput {
  /** Told each time that the source broke off. It is joined again by itself. */
  readonly onBreak?: (error: unknown) => void;
}

/**
 * Ends when `signal` aborts. Throws what no repeat mends: a refusal such as `unknown_chat`. One that broke off within a
 * snapshot begins with another snapshot, whose first frame replaces all that was told.
 */
export async function* followChat(from: FollowFrom, options: FollowOptions): AsyncGenerator<ChatFrame, void, void> {
  const { onBreak, ...input } = options;
  let cursor = input.after;
  let pauseMs = FIRST_PAUSE_MS;
  while (!input.signal.aborted) {
    try {
      for await (const frame of from({ ...input, ...(cursor !== undefined && { after: cursor }) })) {
        pauseMs = FIRST_PAUSE_MS;
        yield frame;
        // What comes after a reset replaces all that was told; broken off there, the old cursor leads to another reset.
        if ('seq' in frame) cursor = frame.seq;
      }
    } catch (error) {
      if (input.signal.aborted) return;
      if (error instanceof CodedError) throw error;
      onBreak?.(error);
    }
    await delay(pauseMs, undefined, { signal: input.signal }).catch(() => undefined);
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
  }
}
