/** Often enough to look alive; each write is a durable transaction. */
const FLUSH_INTERVAL_MS = 100;

export interface PartWriter {
  add(text: string): void;
  /** Writes what has been gathered, unless the last write was a moment ago. */
  flushWhenDue(): Promise<void>;
}

/** Gathers text into parts. The rest of it needs no last part: the committed message has it all. */
export function createPartWriter(write: (text: string) => Promise<void>): PartWriter {
  let pending = '';
  let flushedAtMs = Number.NEGATIVE_INFINITY;
  return {
    add: (text) => {
      pending += text;
    },
    flushWhenDue: async () => {
      if (pending === '' || performance.now() - flushedAtMs < FLUSH_INTERVAL_MS) return;
      const text = pending;
      pending = '';
      await write(text);
      flushedAtMs = performance.now();
    },
  };
}
