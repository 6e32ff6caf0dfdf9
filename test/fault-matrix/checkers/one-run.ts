import type { Evidence } from '../evidence.ts';

/** K1, I07: no command was begun twice, no signal arrived twice. */
export function oneRun({ plan, count }: Evidence): string[] {
  return plan.calls.flatMap(({ label }) =>
    ['begin', 'end', 'signal']
      .map((word) => ({ word, times: count(`${word} ${label}`) }))
      .filter(({ times }) => times > 1)
      .map(({ word, times }) => `the run log has "${word} ${label}" ${times} times`),
  );
}
