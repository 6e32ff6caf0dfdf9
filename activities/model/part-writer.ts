/** Often enough to look alive; each write is a durable transaction. */
const FLUSH_INTERVAL_MS = 80;

export interface PartWriter {
  /**
   * Writes it, unless the last write was a moment ago: then it is written a moment later, whether or not more comes.
   * Throws what a write failed with: the attempt doesn't hold its step any more, so there is no use in going on.
   */
  add(text: string): Promise<void>;
  /** Writes nothing more, and waits for the write that is under way: none must come after the commit. Never throws. */
  stop(): Promise<void>;
}

/** Gathers text into parts. The rest of it needs no last part: the committed message has it all. */
export function createPartWriter(write: (text: string) => Promise<void>): PartWriter {
  let pending = '';
  let flushedAtMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  let isStopped = false;

  /** By a timer: text that came just after a write would wait for the next piece, which may be seconds away. */
  const schedule = (): void => {
    if (pending === '' || timer !== undefined || writing !== undefined || isStopped) return;
    timer = setTimeout(() => void flush(), flushedAtMs + FLUSH_INTERVAL_MS - performance.now());
  };

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const text = pending;
    pending = '';
    writing = write(text)
      .catch((error: unknown) => {
        failure = { error };
      })
      .finally(() => {
        writing = undefined;
        flushedAtMs = performance.now();
        schedule();
      });
    return writing;
  };

  return {
    add: async (text) => {
      pending += text;
      const isDue = performance.now() - flushedAtMs >= FLUSH_INTERVAL_MS;
      if (isDue && writing === undefined && failure === undefined) await flush();
      // oxlint-disable-next-line typescript/only-throw-error -- as it was thrown
      if (failure !== undefined) throw failure.error;
      schedule();
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await writing;
    },
  };
}
