import type { Evidence } from '../evidence.ts';

/** T1, S1: the store, its stream and Temporal tell of one end, and no message is told twice. */
export function endedOnce({ events, turn, end, history }: Evidence): string[] {
  const ends = events.filter((event) => event.type === 'turn' && event.turn === turn && event.state !== 'active');
  const ids = events.flatMap((event) => (event.type === 'message' ? [event.id] : []));
  const doubled = ids.filter((id, index) => ids.indexOf(id) !== index);
  // A run that found the turn closed claims no end of its own (T1): the store's stands.
  const told = history.result?.error?.code === 'turn_closed' ? undefined : history.result?.state;
  return [
    ...(ends.length === 1 ? [] : [`its end was told ${ends.length} times`]),
    ...(doubled.length === 0 ? [] : [`messages ${doubled.join(', ')} were told twice`]),
    ...(told === undefined || told === end.state ? [] : [`the workflow says ${told}, the store ${end.state}`]),
  ];
}
