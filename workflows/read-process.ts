/** `process_output` and `process_list`: asked of the agent's control queue, and free to be asked again. */
import type { ProcessRequest } from '../contract/calls.ts';
import type { Target } from '../contract/target.ts';
import { controlActivities } from './activity-options.ts';
import { moveCall, resolveCall } from './context.ts';
import type { TurnContext } from './context.ts';
import { describeError } from './errors.ts';
import { untilInterrupted } from './interrupt.ts';
import { canceledRead, notRead } from './outcomes.ts';
import { requireOutcome } from './require-outcome.ts';
import type { CallRecord } from './turn-state.ts';

/** Each of the two tries that controlActivities makes room for has the wait of its own. */
const TRIES = 2;

interface Reading {
  readonly record: CallRecord;
  readonly target: Target;
  readonly request: ProcessRequest;
}

/** Reads and stores the result. An interrupt lets it go at once: there is nothing to stop. */
export async function readProcess(context: TurnContext, { record, target, request }: Reading): Promise<void> {
  moveCall(context, record, { type: 'dispatched', target });
  const waitMs = request.verb === 'output' ? request.waitSeconds * 1000 : 0;
  const tryForMs = context.timings.describeAgentMs + TRIES * waitMs;
  const control = controlActivities(target.agentId, tryForMs, record.call.summary);
  const ending = await untilInterrupted(context.interrupt, async () =>
    requireOutcome(await control.readProcess({ chatId: context.state.input.chatId, target, request })),
  );
  if (ending === undefined) return resolveCall(context, record, canceledRead());
  const outcome = 'error' in ending ? notRead(describeError(ending.error)) : ending.value;
  return resolveCall(context, record, outcome);
}
