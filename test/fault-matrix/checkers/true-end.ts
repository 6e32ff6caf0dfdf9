import type { Evidence } from '../evidence.ts';

/** C6, K2: the turn ended as it was meant to; nobody was killed unasked; nothing is in doubt, since nothing was lost. */
export function trueEnd({ plan, end, calls, count }: Evidence): string[] {
  // What was to be stopped never ran (its agent could not be asked in time, E10): the turn went on.
  const isUnmet = plan.act?.whenRuns !== undefined && count(`begin ${plan.act.whenRuns}`) === 0;
  const isMeant =
    (plan.ends.some((state) => state === end.state) && (plan.error === undefined || plan.error === end.code)) ||
    (isUnmet && end.state === 'completed');
  const isStopped = plan.act?.what === 'interrupt';
  return [
    ...(isMeant ? [] : [`it ended as ${end.state} (${end.code ?? 'no error'})`]),
    ...calls
      .filter(({ status }) => status === 'canceled' && !isStopped)
      .map(({ key, evidence }) => `${key} is canceled (${evidence?.code}), and nobody had asked for that`),
    ...calls
      .filter(({ status, evidence }) => status === 'unknown' && !(plan.doubts ?? []).includes(evidence?.code ?? ''))
      .map(({ key, evidence }) => `${key} is unknown (${evidence?.code}: ${evidence?.detail})`),
  ];
}
