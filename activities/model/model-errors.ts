/** What a provider's error means for the turn: end it with a clear code, or try again, and when (design §6). */
import { CodedError, Refusal, findFailureCode } from '../../contract/failures.ts';
import type { FailureCode } from '../../contract/failures.ts';

/** A failed model call. With `retryAfterMs` the provider said how long to leave it alone, at least. */
export class ModelError extends CodedError {
  readonly retryAfterMs: number | undefined;

  constructor(code: FailureCode, message: string, retryAfterMs?: number) {
    super(code, message);
    this.name = 'ModelError';
    this.retryAfterMs = retryAfterMs;
  }
}

/** Nonsense in a header, such as a date in the far future, must not hold a turn for ever. */
const RETRY_AFTER_MS_MAX = 24 * 60 * 60_000;
const DETAIL_CHARACTERS_MAX = 1000;

/** Every error of a model call as one with a code; ours stay as they are. */
export function toModelError(error: unknown): CodedError {
  if (findFailureCode(error) !== undefined) return error as CodedError;
  const facts = readFacts(error);
  const code = classify(facts);
  const status = facts.status === undefined ? '' : ` (HTTP ${facts.status})`;
  const message = `the provider answered: ${facts.message.slice(0, DETAIL_CHARACTERS_MAX)}${status}`;
  if (code !== 'model_unavailable' && code !== 'model_rate_limited') return new Refusal(code, message);
  return new ModelError(code, facts.isAnswer ? message : facts.message, facts.retryAfterMs);
}

interface Facts {
  readonly status: number | undefined;
  /** The words of the error in lower case, its type and code as well. */
  readonly words: string;
  readonly message: string;
  /** The provider said something; else nothing of its own came. */
  readonly isAnswer: boolean;
  readonly isRetryable: boolean | undefined;
  readonly retryAfterMs: number | undefined;
}

const CONTEXT_TOO_LONG =
  /context_length_exceeded|context[ _]window|maximum context length|prompt is too long|input is too long|request_too_large|too many (input )?tokens|exceeds? (the )?(model'?s |available )?(maximum )?context|exceeds the maximum number of tokens/;
const QUOTA_EXHAUSTED =
  /insufficient_quota|billing_error|billing_hard_limit|credit balance|exceeded your current quota|out of credits|insufficient (credits|balance|funds)|payment required|usage limit/;
const UNAUTHORIZED = /authentication_error|permission_error|invalid_api_key|incorrect api key|invalid x-api-key/;
const RATE_LIMITED = /rate_limit|rate limit|too many requests/;
/** A stream says these in its midst, where no status is left to say. */
const REFUSED = /invalid_request_error|not_found_error/;

/** The words first: a quota that is used up comes as 429 like a limit on the rate, and as 400 or 403 as well. */
function classify({ status, words, isRetryable }: Facts): FailureCode {
  if (QUOTA_EXHAUSTED.test(words) || status === 402) return 'model_quota_exhausted';
  if (status === 429 || RATE_LIMITED.test(words)) return 'model_rate_limited';
  const isServersFault = status !== undefined && (status >= 500 || status === 408 || status === 409 || status === 425);
  if (isServersFault) return 'model_unavailable';
  if (status === 413 || CONTEXT_TOO_LONG.test(words)) return 'model_context_too_long';
  if (status === 401 || status === 403 || UNAUTHORIZED.test(words)) return 'model_unauthorized';
  if (isRetryable === true) return 'model_unavailable';
  const isFinal = isRetryable === false || (status ?? 0) >= 400 || REFUSED.test(words);
  return isFinal ? 'model_refused' : 'model_unavailable';
}

/** Errors of the SDK have fields, those in the midst of a stream may be plain objects, the network's have causes. */
function readFacts(error: unknown): Facts {
  const fields = isObject(error) ? error : {};
  const inner = isObject(fields['error']) ? fields['error'] : {};
  const { statusCode, responseHeaders, responseBody, isRetryable, type, code, data } = { ...inner, ...fields };
  const message = readMessage(error, inner);
  const body = typeof responseBody === 'string' ? responseBody : '';
  const words = [message, type ?? inner['type'], code ?? inner['code'], body, JSON.stringify(data) ?? '']
    .map(String)
    .join(' ')
    .toLowerCase();
  const status = typeof statusCode === 'number' && statusCode !== 200 ? statusCode : undefined;
  return {
    status,
    words,
    message,
    isAnswer: status !== undefined || body !== '' || type !== undefined,
    isRetryable: typeof isRetryable === 'boolean' ? isRetryable : undefined,
    retryAfterMs: isObject(responseHeaders) ? readRetryAfter(responseHeaders) : undefined,
  };
}

function readMessage(error: unknown, inner: Record<string, unknown>): string {
  const own = isObject(error) ? error['message'] : error;
  const message = typeof own === 'string' && own !== '' ? own : inner['message'];
  if (typeof message !== 'string') return JSON.stringify(error) ?? String(error);
  const cause = isObject(error) && error['cause'] instanceof Error ? error['cause'].message : '';
  return cause === '' || message.includes(cause) ? message : `${message}: ${cause}`;
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function readRetryAfter(headers: Record<string, unknown>, now = Date.now()): number | undefined {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  const header = headers['retry-after'];
  const given = typeof header === 'string' ? header : '';
  const seconds = given === '' ? Number.NaN : Number(given);
  const byDate = given === '' ? Number.NaN : Date.parse(given) - now;
  const found = [milliseconds, seconds * 1000, byDate].find((each) => Number.isFinite(each) && each > 0);
  return found === undefined ? undefined : Math.min(Math.ceil(found), RETRY_AFTER_MS_MAX);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
