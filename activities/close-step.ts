import type { CloseStepInput, CloseStepResult } from '../contract/activity-interfaces.ts';
import type { Store } from '../store/store.ts';
import { faultPoint } from './fault-points.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** The activity that closes a step against late commits; calls that were never dispatched get their result. */
export function closeStepWith(store: Store): (input: CloseStepInput) => Promise<CloseStepResult> {
  return async (input) =>
    withActivityFailures(async () => {
      faultPoint('close-before-store');
      const stored = await store.closeStep(input);
      faultPoint('close-after-store');
      return stored;
    });
}
