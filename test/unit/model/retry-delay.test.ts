import { expect, test } from 'vitest';
import { findRetryDelay } from '../../../activities/model/retry-delay.ts';

const retryPolicy = { initialInterval: 1000, backoffCoefficient: 2, maximumInterval: 60_000, maximumAttempts: 25 };

test('the delay grows from 1 s to 60 s, and after the 25th attempt there is none', () => {
  const delays = [1, 2, 6, 7, 24].map((attempt) => findRetryDelay({ attempt, retryPolicy }));
  expect(delays.map((delay) => delay?.ms)).toEqual([1000, 2000, 32_000, 60_000, 60_000]);
  expect(delays.every((delay) => delay?.isAskedFor === false)).toBe(true);
  expect(findRetryDelay({ attempt: 25, retryPolicy })).toBeUndefined();
});

test('what a provider asks for is the least that is waited, never less than the own delay', () => {
  expect(findRetryDelay({ attempt: 1, retryPolicy }, 5000)).toEqual({ ms: 5000, isAskedFor: true });
  expect(findRetryDelay({ attempt: 7, retryPolicy }, 5000)).toEqual({ ms: 60_000, isAskedFor: false });
  expect(findRetryDelay({ attempt: 7, retryPolicy }, 90_000)).toEqual({ ms: 90_000, isAskedFor: true });
});
