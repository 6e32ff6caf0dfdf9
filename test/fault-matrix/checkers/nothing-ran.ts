import { findCall, saysNothingRan } from '../evidence.ts';
import type { Evidence } from '../evidence.ts';

/** K2, K6: where a result says that nothing ran, nothing did. */
export function nothingRan(evidence: Evidence): string[] {
  return evidence.plan.calls.flatMap(({ label }) => {
    const call = findCall(evidence, label);
    // A call that was never committed can't have run either.
    if (call !== undefined && !saysNothingRan(call)) return [];
    if (evidence.count(`begin ${label}`) === 0) return [];
    return [`${label} ran although its row says ${call?.status ?? 'nothing'} (${call?.evidence?.code ?? 'no row'})`];
  });
}
