import { expect, test } from 'vitest';
import { describeFailure } from '../../../client/describe-failure.ts';
import { CodedError, FAILURES } from '../../../contract/failures.ts';

test('a failure says its next step once: its own where it names a setting, else that of its code', () => {
  const { nextStep } = FAILURES.temporal_unreachable;
  const named = new CodedError('temporal_unreachable', 'No server. Set TEMPORAL_ADDRESS.', 'TEMPORAL_ADDRESS');
  expect(describeFailure(named)).toBe('No server. Set TEMPORAL_ADDRESS.');
  expect(describeFailure(new CodedError('temporal_unreachable', 'it ended'))).toBe(`it ended\n  ${nextStep}`);
  expect(describeFailure(new CodedError('configuration', 'set A', 'A'))).toBe('set A');
  expect(describeFailure(new CodedError('chat_busy', 'busy'))).toBe(`busy\n  ${FAILURES.chat_busy.nextStep}`);
  expect(describeFailure(new Error('plain'))).toBe('plain');
});
