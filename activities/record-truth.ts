import type { RecordResultResult, RecordTruthInput } from '../contract/activity-interfaces.ts';
import type { Store } from '../store/store.ts';
import { faultPoint } from './fault-points.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** The activity that stores what became known of a call after its turn had moved on (C3). */
export function recordTruthWith(store: Store): (input: RecordTruthInput) => Promise<RecordResultResult> {
  return async (input) =>
    withActivityFailures(async () => {
      faultPoint('truth-before-record');
      const stored = await store.recordTruth(input);
      faultPoint('truth-after-record');
      return stored;
    });
}
