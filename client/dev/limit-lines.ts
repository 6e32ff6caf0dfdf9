/** Holds the lines of a piece that says the same thing over and over (a server that is away): the log has a person. */
const LINES_MAX = 20;
const WINDOW_MS = 10_000;

export function limitLines(write: (line: string) => void, nowMs: () => number = () => performance.now()) {
  let windowEndMs = 0;
  let written = 0;
  let left = 0;
  return (line: string): void => {
    const now = nowMs();
    if (now >= windowEndMs) {
      if (left > 0) write(`… ${left} more lines, left out`);
      windowEndMs = now + WINDOW_MS;
      written = 0;
      left = 0;
    }
    written += 1;
    if (written <= LINES_MAX) write(line);
    else left += 1;
  };
}
