import type { EndTurnInput, EndTurnResult } from '../contract/activity-interfaces.ts';
import type { Store } from '../store/store.ts';
import { faultPoint } from './fault-points.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** The activity that ends a turn, once, and frees its chat (T1). A person who has interrupted it needs no notice (G10). */
export function endTurnWith(
  store: Store,
  { sendsNotices }: { readonly sendsNotices: boolean },
): (input: EndTurnInput) => Promise<EndTurnResult> {
  return async (input) =>
    withActivityFailures(async () => {
      faultPoint('end-before-store');
      const { state } = await store.endTurn(input);
      faultPoint('end-before-report');
      return { isNoticeWanted: sendsNotices && state !== 'interrupted' };
    });
}
