import type { EndTurnInput } from '../contract/activity-interfaces.ts';
import type { Store } from '../store/store.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** The activity that ends a turn, once, and frees its chat (T1). */
export function endTurnWith(store: Store): (input: EndTurnInput) => Promise<void> {
  return async (input) => withActivityFailures(() => store.endTurn(input));
}
