/** One try at sending, and what its answer means: it is there, it is to be tried again, or that is of no use. */
import { Agent, request } from 'undici';
import { readRetryAfter } from '../model/model-errors.ts';

/** A receiver has so long to answer; it should only take the notice, and work on it later. */
const ANSWER_MS_MAX = 15_000;
const CONNECT_MS_MAX = 10_000;
/** What a client may be asked to repeat: it took too long, or there were too many. */
const TRIED_AGAIN = [408, 429];

const dispatcher = new Agent({ connect: { timeout: CONNECT_MS_MAX } });

export interface WebhookToSend {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
}

export type SendResult =
  | { readonly kind: 'delivered'; readonly status: number }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs?: number }
  | { readonly kind: 'refused'; readonly reason: string };

/** Follows no redirect: a signed text goes to nobody but whom the operator has named. Throws only when cancelled. */
export async function sendWebhook({ url, headers, body, signal }: WebhookToSend): Promise<SendResult> {
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'latchkey', ...headers },
      body,
      dispatcher,
      // Notices are rare; no connection is kept for the next one.
      reset: true,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
    });
    await answer.body.dump().catch(() => undefined);
    return judge(answer.statusCode, answer.headers, url);
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'failed', reason: `${hostOf(url)} could not be reached: ${describe(error)}` };
  }
}

function judge(status: number, headers: Record<string, unknown>, url: string): SendResult {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  const answered = `${hostOf(url)} answered ${status}`;
  if (status >= 300 && status < 400) {
    return { kind: 'failed', reason: `${answered}, a redirect, and those are not followed` };
  }
  if (status >= 400 && status < 500 && !TRIED_AGAIN.includes(status)) return { kind: 'refused', reason: answered };
  const retryAfterMs = readRetryAfter(headers);
  return { kind: 'failed', reason: answered, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** No more of the address is shown: its path may be a secret. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'the receiver';
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${ANSWER_MS_MAX / 1000} s`;
  return error.message === '' ? ((error as { code?: string }).code ?? error.name) : error.message;
}
