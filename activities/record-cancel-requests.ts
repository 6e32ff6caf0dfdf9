import type { RecordCancelRequestsInput } from '../contract/activity-interfaces.ts';
import type { Store } from '../store/store.ts';
import { faultPoint } from './fault-points.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** The activity that shows, and keeps over a workflow reset, that the end of calls was asked for. */
export function recordCancelRequestsWith(store: Store): (input: RecordCancelRequestsInput) => Promise<void> {
  return async (input) =>
    withActivityFailures(async () => {
      await store.recordCancelRequests(input);
      faultPoint('cancel-request-recorded');
    });
}
