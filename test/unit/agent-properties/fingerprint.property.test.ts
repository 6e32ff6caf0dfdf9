import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FingerprintInput } from '../../../agent/fingerprint.ts';
import { fingerprintOf } from '../../../agent/fingerprint.ts';
import type { ChatId, Nonce } from '../../../contract/ids.ts';

const ENVIRONMENT_KEY = 'k'.repeat(64);

/** Small alphabets, so that equal inputs come often, and texts that could run into each other when put side by side. */
const text = fc.string({ unit: fc.constantFrom('a', 'b', '"', ',', '\\', '\n', '\u0000'), maxLength: 3 });
const name = fc.constantFrom('A', 'B', 'AB', 'PATH');
const environment = fc.uniqueArray(fc.tuple(name, text), { selector: ([key]) => key, maxLength: 3 });

const input = fc
  .record(
    {
      chatId: fc.constantFrom('c1', 'c2').map((id) => id as ChatId),
      nonce: fc.constantFrom('n1', 'n2').map((id) => id as Nonce),
      command: text,
      background: fc.boolean(),
      workdir: text,
      env: environment.map((entries): Record<string, string> => Object.fromEntries(entries)),
    },
    { requiredKeys: ['chatId', 'nonce', 'command', 'background'] },
  )
  .map((fields): FingerprintInput => fields);

/** What the fingerprint is meant to tell apart, written down in another way than it does. */
function canonical(request: FingerprintInput): unknown {
  const { chatId, nonce, command, background, workdir, env } = request;
  return { chatId, nonce, command, background, workdir: workdir ?? null, env: { ...env } };
}

function areEqual(one: unknown, other: unknown): boolean {
  try {
    expect(one).toEqual(other);
    return true;
  } catch {
    // Not equal, which is what was asked.
    return false;
  }
}

describe('the fingerprint', () => {
  test('A05, K4: differs exactly when chat, nonce, command, requested workdir, environment or background do', () => {
    fc.assert(
      fc.property(input, input, (one, other) => {
        const isSame = fingerprintOf(one, ENVIRONMENT_KEY) === fingerprintOf(other, ENVIRONMENT_KEY);
        expect(isSame).toBe(areEqual(canonical(one), canonical(other)));
      }),
      { numRuns: 1000 },
    );
  });

  test('A05, K4: of a request in which one field was changed differs', () => {
    const change = fc.constantFrom<keyof FingerprintInput>('chatId', 'nonce', 'command', 'workdir');
    fc.assert(
      fc.property(input, change, (request, field) => {
        const changed = { ...request, [field]: `${request[field] as string | undefined}+` };
        expect(fingerprintOf(changed, ENVIRONMENT_KEY)).not.toBe(fingerprintOf(request, ENVIRONMENT_KEY));
        const flipped = { ...request, background: !request.background };
        expect(fingerprintOf(flipped, ENVIRONMENT_KEY)).not.toBe(fingerprintOf(request, ENVIRONMENT_KEY));
      }),
    );
  });

  test('A05: does not depend on the order of the environment, the wait budget or the time to kill', () => {
    fc.assert(
      fc.property(input, environment, (request, entries) => {
        const one = { ...request, env: Object.fromEntries(entries) };
        const other = { ...request, env: Object.fromEntries(entries.toReversed()), waitMs: 7, killAfterMs: 9 };
        expect(fingerprintOf(one, ENVIRONMENT_KEY)).toBe(fingerprintOf(other, ENVIRONMENT_KEY));
      }),
    );
  });

  test('can not be computed without the key of the journal, where there is an environment', () => {
    fc.assert(
      fc.property(input, (request) => {
        const withEnvironment = { ...request, env: { SECRET: 'guessable' } };
        const ours = fingerprintOf(withEnvironment, ENVIRONMENT_KEY);
        expect(fingerprintOf(withEnvironment, 'another key')).not.toBe(ours);
      }),
    );
  });
});
