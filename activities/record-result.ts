import type { RecordResultInput, RecordResultResult } from '../contract/activity-interfaces.ts';
import type { Store } from '../store/store.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** The activity that stores the result of a call as soon as it has one (C2). */
export function recordResultWith(store: Store): (input: RecordResultInput) => Promise<RecordResultResult> {
  return async (input) => withActivityFailures(() => store.recordResult(input));
}
