import { Context } from '@temporalio/activity';
import type { DeliverNoticeResult } from '../contract/activity-interfaces.ts';
import { Refusal } from '../contract/failures.ts';
import type { NoticeInput } from '../contract/notice.ts';
import type { Store } from '../store/store.ts';
import { applicationFailure } from './failure.ts';
import { findRetryDelay } from './model/retry-delay.ts';
import { buildNotice } from './notices/build-notice.ts';
import { signWebhook } from './notices/sign-webhook.ts';
import type { WebhookSettings } from './notices/webhook-secrets.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** The activity that tells of a turn's end: one try, which Temporal repeats. */
export function deliverNoticeWith(
  store: Store,
  webhook: WebhookSettings | undefined,
): (input: NoticeInput) => Promise<DeliverNoticeResult> {
  return async (input) => withActivityFailures(() => deliverNotice(store, webhook, input));
}

async function deliverNotice(
  store: Store,
  webhook: WebhookSettings | undefined,
  input: NoticeInput,
): Promise<DeliverNoticeResult> {
  // Another turn worker may have the setting, or this one after its next start.
  if (webhook === undefined) throw undelivered('this turn worker has no LATCHKEY_WEBHOOK_URL.');
  const ended = await store.findEndedTurn(input);
  if (ended === undefined) {
    throw new Refusal('notice_refused', `the store knows no end of turn ${input.turn} of chat ${input.chatId}`);
  }
  const { id, body } = buildNotice(input, ended);
  const { url, secrets } = webhook;
  const headers = signWebhook({ id, timestampSeconds: Math.floor(Date.now() / 1000), body, secrets });
  // Loaded with the first notice: it brings an HTTP client, which a worker without a webhook does without.
  const { sendWebhook } = await import('./notices/send-webhook.ts');
  const sent = await sendWebhook({ url, headers, body, signal: Context.current().cancellationSignal });
  if (sent.kind === 'delivered') return { status: sent.status };
  if (sent.kind === 'refused') throw new Refusal('notice_refused', sent.reason);
  throw undelivered(`${sent.reason}.`, sent.retryAfterMs);
}

function undelivered(reason: string, retryAfterMs?: number): Error {
  const delay = findRetryDelay(Context.current().info, retryAfterMs);
  return applicationFailure('notice_undelivered', reason, {
    retryable: true,
    ...(delay?.isAskedFor === true ? { nextRetryDelayMs: delay.ms } : {}),
  });
}
