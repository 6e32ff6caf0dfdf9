import { setTimeout as delay } from 'node:timers/promises';

/** Throws the reason of `stopping` when it aborts. */
export async function pause(ms: number, stopping: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: stopping }).catch(() => undefined);
  stopping.throwIfAborted();
}
