/** Waiting that a caller may leave: it ends at the event, at the limit, or when the caller or the agent goes. */
export function waitAtMost(event: Promise<unknown>, waitMs: number, signal: AbortSignal): Promise<void> {
  if (waitMs <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, waitMs);
    signal.addEventListener('abort', finish, { once: true });
    event.then(finish, finish);
  });
}
