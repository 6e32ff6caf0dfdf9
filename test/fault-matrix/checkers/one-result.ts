import { isResolved } from '../../../contract/calls.ts';
import { EVIDENCE_OF } from '../../../workflows/ledger.ts';
import type { StoredCall } from '../../../store/call-row.ts';
import type { Evidence } from '../evidence.ts';

/** C1, K5: each committed call has its result, by evidence that can prove it, and what ran had a target in its row. */
export function oneResult({ plan, end, calls, count }: Evidence): string[] {
  const asked = new Set(calls.map(({ toolCallId }) => String(toolCallId)));
  const missing = end.state === 'completed' ? plan.calls.filter(({ label }) => !asked.has(label)) : [];
  const lost = missing.map(({ label }) => `${label} was asked for, and no row tells of it`);
  return lost.concat(calls.flatMap(problemsOf));

  function problemsOf(call: StoredCall): string[] {
    const { key, status, evidence, result, target, toolCallId } = call;
    if (result === undefined || !isResolved(status))
      return [`${key} is ${status} and ${result ? 'has a' : 'has no'} result`];
    const isProven = evidence !== undefined && EVIDENCE_OF[status].includes(evidence.code);
    return [
      ...(isProven ? [] : [`${key} is ${status} by ${evidence?.code ?? 'no evidence'}`]),
      ...(target === undefined && count(`begin ${toolCallId}`) > 0 ? [`${key} ran, and its row has no target`] : []),
    ];
  }
}
