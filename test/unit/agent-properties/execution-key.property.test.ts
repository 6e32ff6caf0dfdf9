import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildExecutionKey, splitExecutionKey } from '../../../contract/execution-key.ts';
import { findFailureCode } from '../../../contract/failures.ts';
import { isUsableToolCallId } from '../../../contract/ids.ts';
import type { MessageId, ToolCallId } from '../../../contract/ids.ts';

// fast-check prints seed and counterexample when a property fails.
const messageId = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map((id) => id as MessageId);
/** Dashes and digits are what could be taken for the border. */
const toolCallId = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    fc.string({ unit: fc.constantFrom('-', '0', '1', '42'), minLength: 1 }),
  )
  .filter(isUsableToolCallId)
  .map((id) => id as ToolCallId);
const parts = fc.record({ messageId, toolCallId });

test('A01: a key is split into exactly the parts that it was built from', () => {
  fc.assert(
    fc.property(parts, (both) => {
      expect(splitExecutionKey(buildExecutionKey(both))).toEqual(both);
    }),
  );
});

test('A01: two keys are equal only when both of their parts are', () => {
  // From a small alphabet, so that near misses such as (4, "2-x") and (42, "-x") come often.
  const near = fc.record({
    messageId: fc.constantFrom(1, 4, 11, 42, 421).map((id) => id as MessageId),
    toolCallId: fc
      .string({ unit: fc.constantFrom('-', '1', '2', 'x'), minLength: 1, maxLength: 3 })
      .map((id) => id as ToolCallId),
  });
  fc.assert(
    fc.property(near, near, (one, other) => {
      const areSame = one.messageId === other.messageId && one.toolCallId === other.toolCallId;
      expect(buildExecutionKey(one) === buildExecutionKey(other)).toBe(areSame);
    }),
    { numRuns: 1000 },
  );
});

test('A10: any other text is refused by name, or is a key that builds itself again', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('-', '0', '1', ' ', '\0', '\ud800', 'e', '+', '.') }),
  );
  fc.assert(
    fc.property(text, (key) => {
      let split;
      try {
        split = splitExecutionKey(key);
      } catch (error) {
        expect(findFailureCode(error)).toBe('bad_request');
        return;
      }
      expect(buildExecutionKey(split)).toBe(key);
    }),
    { numRuns: 1000 },
  );
});
