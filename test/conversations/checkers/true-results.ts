import { isResolved } from '../../../contract/calls.ts';
import { saysNothingRan } from '../../fault-matrix/evidence.ts';
import { labelOf } from '../plan.ts';
import type { Seen } from '../seen.ts';

/** C1, C2, K2: each call has one result, its own, and that is true; nothing is in doubt, since nothing was lost. */
export function trueResults({ calls, ran }: Seen): string[] {
  const known = new Set(calls.map(labelOf));
  const strangers = ran.filter((line) => !known.has(line.split(' ')[1] ?? ''));
  return [
    ...strangers.map((line) => `the run log has "${line}", and no row tells of it`),
    ...calls.flatMap((call) => {
      const { key, status, result, evidence, exitCode } = call;
      const label = labelOf(call);
      const name = `${key} (${label}), ${status} by ${evidence?.code}`;
      if (!isResolved(status) || result === undefined) return [`${name}, has no result`];
      if (status === 'unknown') return [`${name}: ${evidence?.detail ?? ''}`];
      const hasBegun = ran.includes(`begin ${label}`);
      if (saysNothingRan(call)) return hasBegun ? [`${name}, and it ran`] : [];
      if (status !== 'exited') return [];
      const code = Number(/exit (\d+)$/.exec(String(call.arguments['command']))?.[1]);
      // A truth that came later moves the row, and the text stays as it was told (C3).
      const isTold = call.settledAt !== undefined || result.text.includes(`out ${label}\n`);
      const isOwn = isTold && exitCode === code && ran.includes(`end ${label}`);
      return isOwn ? [] : [`${name}, exit ${exitCode}, and its result is ${JSON.stringify(result.text)}`];
    }),
  ];
}
