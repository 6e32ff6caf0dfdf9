import type { CallOutcome } from '../contract/calls.ts';
import type { SettleInput } from '../contract/settle.ts';
import { inDoubt } from './outcomes.ts';

/** Nobody asks any more, and nobody has said (K2). */
export function givenUp(input: SettleInput, code: 'operator' | 'settle_gave_up', cause: string): CallOutcome {
  return inDoubt(code, { target: input.target, cause, sending: input.sending });
}
