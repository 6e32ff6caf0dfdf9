import { APICallError } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { readRetryAfter, toModelError } from '../../../activities/model/model-errors.ts';

function answer(statusCode: number, body: object, headers: Record<string, string> = {}): APICallError {
  const { error } = body as { error?: { message?: string } };
  const message = error?.message ?? 'no';
  const responseBody = JSON.stringify(body);
  return new APICallError({
    message,
    url: 'x',
    requestBodyValues: {},
    statusCode,
    responseHeaders: headers,
    responseBody,
  });
}

describe('what a provider answers decides whether the turn ends or waits', () => {
  test.each([
    [
      'OpenAI: a limit on the rate',
      answer(429, {
        error: { message: 'Rate limit reached; see account/billing', type: 'tokens', code: 'rate_limit_exceeded' },
      }),
      'model_rate_limited',
    ],
    [
      'OpenAI: a quota that is used up',
      answer(429, { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } }),
      'model_quota_exhausted',
    ],
    [
      'Anthropic: no credit',
      answer(400, { error: { type: 'invalid_request_error', message: 'Your credit balance is too low' } }),
      'model_quota_exhausted',
    ],
    ['payment required', answer(402, {}), 'model_quota_exhausted'],
    ['a wrong key', answer(401, { error: { message: 'Incorrect API key provided' } }), 'model_unauthorized'],
    ['not allowed', answer(403, { error: { type: 'permission_error', message: 'no' } }), 'model_unauthorized'],
    ['no such model', answer(404, { error: { type: 'not_found_error', message: 'model: x' } }), 'model_refused'],
    ['a bad request', answer(400, { error: { message: 'messages.1: bad' } }), 'model_refused'],
    [
      'OpenAI: too long',
      answer(400, { error: { message: 'too much', code: 'context_length_exceeded' } }),
      'model_context_too_long',
    ],
    [
      'Anthropic: too long',
      answer(400, { error: { message: 'prompt is too long: 205000 tokens > 200000 maximum' } }),
      'model_context_too_long',
    ],
    [
      'Anthropic: too long with what may be answered',
      answer(400, {
        error: { message: 'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000' },
      }),
      'model_context_too_long',
    ],
    [
      'a local server: too long',
      answer(400, { error: { message: 'the request exceeds the available context size, try increasing it' } }),
      'model_context_too_long',
    ],
    [
      'Google: too long',
      answer(400, { error: { message: 'The input token count exceeds the maximum number of tokens allowed 1048576' } }),
      'model_context_too_long',
    ],
    ['a body that is too large', answer(413, {}), 'model_context_too_long'],
    [
      'Anthropic: overloaded',
      answer(529, { error: { type: 'overloaded_error', message: 'Overloaded' } }),
      'model_unavailable',
    ],
    ['a broken gateway', answer(502, {}), 'model_unavailable'],
    ['a time-out', answer(408, {}), 'model_unavailable'],
    [
      'nobody listens',
      new APICallError({
        message: 'Cannot connect to API: ECONNREFUSED',
        url: 'x',
        requestBodyValues: {},
        isRetryable: true,
      }),
      'model_unavailable',
    ],
    ['a limit told in the stream', { message: 'slow down', type: 'rate_limit_error' }, 'model_rate_limited'],
    ['an overload told in the stream', { message: 'Overloaded', type: 'overloaded_error' }, 'model_unavailable'],
    ['a refusal told in the stream', { error: { message: 'bad', type: 'invalid_request_error' } }, 'model_refused'],
    ['something odd', 'odd', 'model_unavailable'],
    ['nothing at all', undefined, 'model_unavailable'],
  ])('%s', (_name, error, code) => {
    expect(toModelError(error)).toMatchObject({ code });
  });

  test('the message is the provider’s own, with the status', () => {
    expect(toModelError(answer(404, { error: { message: 'model: x' } })).message).toBe(
      'the provider answered: model: x (HTTP 404)',
    );
    expect(toModelError({ message: 'slow down', type: 'rate_limit_error' }).message).toContain('slow down');
  });
});

test('Retry-After is read as milliseconds, seconds or a date, and nonsense is not believed', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(readRetryAfter({ 'retry-after-ms': '1500', 'retry-after': '9' }, now)).toBe(1500);
  expect(readRetryAfter({ 'retry-after': '2.5' }, now)).toBe(2500);
  expect(readRetryAfter({ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, now)).toBe(60_000);
  expect(readRetryAfter({ 'retry-after': 'Thu, 01 Jan 2099 00:00:00 GMT' }, now)).toBe(24 * 60 * 60_000);
  for (const nonsense of ['', 'soon', '-3', '0', 'Thu, 01 Jan 1970 00:00:00 GMT']) {
    expect(readRetryAfter({ 'retry-after': nonsense }, now)).toBeUndefined();
  }
});
