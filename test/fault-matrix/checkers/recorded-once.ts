import { activityIdOf } from '../../../contract/execution-key.ts';
import type { Evidence } from '../evidence.ts';

/** C3, E13: a call is dispatched once and never after its result; what history has recorded is what the row holds. */
export function recordedOnce({ calls, history }: Evidence): string[] {
  return calls.flatMap((call) => {
    const id = activityIdOf(call.key);
    const dispatched = history.scheduled.get(id) ?? [];
    const writes = history.recorded.get(id) ?? [];
    const first = writes[0]?.eventId ?? Infinity;
    // Also a result of an earlier run, which this one doesn't tell of (a workflow reset).
    const resolvedMs = call.resolvedAt === undefined ? Infinity : Date.parse(call.resolvedAt);
    const returned = history.returned.get(id);
    const isSettled = call.settledAt !== undefined;
    const hasMoved = writes.some(
      ({ status, evidenceCode }) => status !== call.status || evidenceCode !== call.evidence?.code,
    );
    return [
      ...(dispatched.length > 1 ? [`${id} was dispatched ${dispatched.length} times`] : []),
      ...(dispatched.some(({ eventId, atMs }) => eventId > first || atMs > resolvedMs)
        ? [`${id} was dispatched after its result`]
        : []),
      ...(!isSettled && hasMoved ? [`${id} was recorded as ${writes[0]?.status} and is ${call.status}`] : []),
      ...(returned !== undefined && call.status === returned.status && returned.text !== call.result?.text && !isSettled
        ? [`the text of ${id} is another one than its activity returned`]
        : []),
    ];
  });
}
