import type { Seen } from '../seen.ts';

/** K1: no command ran twice. */
export function oneRun({ ran }: Seen): string[] {
  const counts = Map.groupBy(ran, (line) => line);
  return [...counts]
    .filter(([, lines]) => lines.length > 1)
    .map(([line, lines]) => `"${line}" is in the run log ${lines.length} times`);
}
