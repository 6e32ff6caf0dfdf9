import type { RecordResultInput, RecordResultResult } from '../contract/activity-interfaces.ts';
import type { Store } from '../store/store.ts';
import { faultPoint } from './fault-points.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** The activity that stores the result of a call as soon as it has one (C2). */
export function recordResultWith(store: Store): (input: RecordResultInput) => Promise<RecordResultResult> {
  return async (input) =>
    withActivityFailures(async () => {
      faultPoint('result-before-record');
      const stored = await store.recordResult(input);
      faultPoint('result-after-record');
      return stored;
    });
}
