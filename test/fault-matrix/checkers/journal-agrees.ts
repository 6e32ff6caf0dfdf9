import type { CallStatus } from '../../../contract/calls.ts';
import type { Evidence } from '../evidence.ts';

/** What a key may be at its agent when its row says so. A read or a signal has no process of its own. */
const STATES: Partial<Record<CallStatus, readonly string[]>> = {
  exited: ['exited'],
  detached: ['running', 'exited'],
  canceled: ['exited', 'fenced', 'canceled'],
  no_effect: ['fenced', 'canceled', 'void', 'spawn_failed'],
};

/** K5, K6: the journal that a call was dispatched to says the same as its row. */
export function journalAgrees({ calls, journal }: Evidence): string[] {
  return calls.flatMap(({ key, status, evidence, toolName }) => {
    const state = journal.get(key);
    const allowed = STATES[status];
    if (toolName !== 'execute' || state === undefined || allowed === undefined || allowed.includes(state)) return [];
    return [`${key} is ${status} (${evidence?.code}), and its journal says ${state}`];
  });
}
