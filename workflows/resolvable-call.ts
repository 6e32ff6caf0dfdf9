import { isProcessRequest } from '../contract/calls.ts';
import type { ResolveCallAnswer } from '../contract/operator.ts';
import { requestFailure } from './errors.ts';
import type { TurnState } from './turn-state.ts';

/**
 * What a person's word about this call has to say to it: undefined when it may be filed, the call's end when it has one.
 * Throws a refusal for a call that isn't there, or that has not been dispatched.
 */
export function requireResolvable(
  state: TurnState,
  key: string,
): Pick<ResolveCallAnswer, 'status' | 'evidence'> | undefined {
  const record = state.calls.find(({ call }) => call.key === key);
  if (record === undefined) {
    throw requestFailure('bad_request', `this turn has no call ${key}; the query "calls" tells which there are`);
  }
  const { entry, call } = record;
  if (entry.hasResult) {
    const evidence = entry.result?.evidence ?? {
      code: 'attempt_ended' as const,
      detail: 'its result was stored by an earlier run',
    };
    return { status: entry.status, evidence };
  }
  if (entry.target !== undefined && !isProcessRequest(call.request)) return undefined;
  throw requestFailure('bad_request', `call ${key} was not dispatched yet, so there is nothing to wait for`);
}
