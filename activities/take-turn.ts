import type { TakeTurnInput, TakeTurnResult } from '../contract/activity-interfaces.ts';
import type { Store } from '../store/store.ts';
import { faultPoint } from './fault-points.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** The activity that takes the turn and allots ids above every one that is known (T1). */
export function takeTurnWith(store: Store): (input: TakeTurnInput) => Promise<TakeTurnResult> {
  return async (input) =>
    withActivityFailures(async () => {
      const stored = await store.takeTurn(input);
      faultPoint('take-before-report');
      return stored;
    });
}
