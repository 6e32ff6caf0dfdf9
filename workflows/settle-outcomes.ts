import type { CallOutcome } from '../contract/calls.ts';
import { FAILURE_CHARACTERS_MAX } from '../contract/limits.ts';
import type { SettleInput } from '../contract/settle.ts';
import { toSafeText } from '../contract/well-formed.ts';

/** Nobody asks any more, and nobody has said (K2). */
export function givenUp(input: SettleInput, code: 'operator' | 'settle_gave_up', cause: string): CallOutcome {
  const detail = toSafeText(cause, FAILURE_CHARACTERS_MAX);
  return {
    status: 'unknown',
    evidence: { code, detail, target: input.target },
    text: toSafeText(
      `[unknown: it can not be said whether this command ran or how it ended (${cause}). ` +
        `Check what it would have changed before you run it again.]`,
      FAILURE_CHARACTERS_MAX,
    ),
  };
}
