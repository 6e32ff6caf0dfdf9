import { findCall } from '../evidence.ts';
import type { Evidence } from '../evidence.ts';

/** C2, C4: a command that ended by itself has its true exit, and all that it said, in the result. */
export function resultKept(evidence: Evidence): string[] {
  return evidence.plan.calls.flatMap(({ label, code, isBackground, isSignal }) => {
    const call = findCall(evidence, label);
    const hasEnded = evidence.count(`end ${label}`) > 0;
    if (call === undefined || isSignal === true) return [];
    if (call.status === 'exited') return exitOf(evidence, { label, code, isBackground });
    // Spared on purpose, or left alone when its turn was lost: its end is nobody's result.
    if (!hasEnded || call.status === 'detached') return [];
    // Its journal has forgotten it, so nobody can know.
    if (call.status === 'unknown' && (evidence.plan.doubts ?? []).includes(call.evidence?.code ?? '')) return [];
    return [`${label} ended by itself, and its row says ${call.status} (${call.evidence?.code})`];
  });
}

function exitOf(
  evidence: Evidence,
  { label, code, isBackground }: { label: string; code: number; isBackground: boolean },
) {
  const call = findCall(evidence, label);
  const text = call?.result?.text ?? '';
  if (evidence.count(`end ${label}`) !== 1) return [`${label} is exited, and the run log has no end of it`];
  if (call?.exitCode !== code) return [`${label} is exited with ${call?.exitCode} instead of ${code}`];
  // A truth that came later stands in a note, the result keeps its words (C3).
  if (call.settledAt !== undefined || isBackground) return [];
  const isWhole = text.startsWith(`in-${label}\nout-${label}\n`) && text.includes(`[exit ${code} after `);
  return isWhole ? [] : [`${label} is exited, and its result lacks what it said: ${JSON.stringify(text)}`];
}
