import type { CloseStrayTurnResult } from '../contract/activity-interfaces.ts';
import type { StrayTurn } from '../contract/sweep.ts';
import type { Store } from '../store/store.ts';
import { faultPoint } from './fault-points.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** The activity that closes the steps of a turn whose workflow is gone. */
export function closeStrayTurnWith(store: Store): (input: StrayTurn) => Promise<CloseStrayTurnResult> {
  return async (input) =>
    withActivityFailures(async () => {
      const stored = await store.closeStrayTurn(input);
      faultPoint('stray-closed');
      return stored;
    });
}
