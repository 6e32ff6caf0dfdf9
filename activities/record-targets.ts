import type { RecordTargetsInput, RecordTargetsResult } from '../contract/activity-interfaces.ts';
import type { Store } from '../store/store.ts';
import { faultPoint } from './fault-points.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** The activity that writes where calls are about to be dispatched, before they are (K5). */
export function recordTargetsWith(store: Store): (input: RecordTargetsInput) => Promise<RecordTargetsResult> {
  return async (input) =>
    withActivityFailures(async () => {
      const stored = await store.recordTargets(input);
      faultPoint('targets-before-report');
      return stored;
    });
}
