/** The calls of one step, side by side up to the limit; each gets its result before the step ends (C1). */
import { condition } from '@temporalio/workflow';
import { isProcessRequest } from '../contract/calls.ts';
import type { AgentId } from '../contract/ids.ts';
import type { Target } from '../contract/target.ts';
import { CALLS_SIDE_BY_SIDE_MAX } from '../contract/limits.ts';
import { storeActivities } from './activity-options.ts';
import { resolveCall } from './context.ts';
import type { TurnContext } from './context.ts';
import { TurnStopped } from './errors.ts';
import { freshTarget } from './fresh-target.ts';
import { notDispatched, withoutRequest } from './outcomes.ts';
import { cancelUndispatched, runCall } from './run-call.ts';
import { readProcess } from './read-process.ts';
import { isOpen } from './turn-state.ts';
import type { CallRecord } from './turn-state.ts';

/** Work side by side; the first failure is kept until all have ended, so that none takes a sibling down (C2). */
class SideBySide {
  count = 0;
  failure: { readonly error: unknown } | undefined;

  start(work: Promise<void>): void {
    this.count += 1;
    work.then(
      () => {
        this.count -= 1;
      },
      (error: unknown) => {
        this.count -= 1;
        this.failure ??= { error };
      },
    );
  }
}

/**
 * Returns when every call has its stored result. Throws when one can't be stored, or when the chat's ids turn out to
 * be used already; then what was dispatched has ended, and the rest is for closeStep.
 */
export async function dispatchCalls(context: TurnContext, records: readonly CallRecord[]): Promise<void> {
  const { interrupt } = context;
  const waiting = records.filter(isOpen);
  const running = new SideBySide();
  const mayStart = () => !interrupt.isRequested && running.failure === undefined;
  while (waiting.length > 0 && mayStart()) {
    const wave = waiting.slice(0, CALLS_SIDE_BY_SIDE_MAX - running.count);
    try {
      if (!(await startWave(context, wave, running))) break;
    } catch (error) {
      running.failure ??= { error };
    }
    waiting.splice(0, wave.length);
    await condition(() => waiting.length === 0 || running.count < CALLS_SIDE_BY_SIDE_MAX || !mayStart());
  }
  if (interrupt.isRequested) {
    for (const record of waiting.filter(isOpen)) running.start(cancelUndispatched(context, record));
  }
  await condition(() => running.count === 0);
  if (running.failure !== undefined) throw running.failure.error;
}

/** False when the turn was interrupted before any call of the wave was started. */
async function startWave(context: TurnContext, wave: readonly CallRecord[], running: SideBySide): Promise<boolean> {
  const unreachable = await targetCalls(context, wave.filter(needsTarget));
  if (unreachable === undefined || context.interrupt.isRequested) return false;
  for (const record of wave) {
    const cause = unreachable.get(record.call.agentId);
    const isRefused = cause !== undefined && needsTarget(record);
    running.start(
      isRefused ? resolveCall(context, record, notDispatched(record.call, cause)) : startCall(context, record),
    );
  }
  return true;
}

function needsTarget({ call, entry }: CallRecord): boolean {
  return entry.target === undefined && call.request !== undefined;
}

async function startCall(context: TurnContext, record: CallRecord): Promise<void> {
  const { call, entry } = record;
  const { request } = call;
  if (request === undefined || entry.target === undefined) return resolveCall(context, record, withoutRequest());
  if (isProcessRequest(request)) return readProcess(context, { record, target: entry.target, request });
  // An interrupt of an earlier run asked for its end: it is never dispatched again, only ended (C3).
  if (entry.status === 'cancel_requested') return cancelUndispatched(context, record);
  return runCall(context, { record, target: entry.target, request });
}

/**
 * Gives the calls a target, where the row has one its own (K5). Returns why agents could not be asked, whose calls
 * then have none; undefined when the turn was interrupted meanwhile.
 */
async function targetCalls(
  context: TurnContext,
  records: readonly CallRecord[],
): Promise<ReadonlyMap<AgentId, string> | undefined> {
  const unreachable = new Map<AgentId, string>();
  for (const [agentId, group] of Map.groupBy(records, ({ call }) => call.agentId)) {
    const answer = await freshTarget(context, agentId);
    if ('isInterrupted' in answer) return undefined;
    if ('failure' in answer) {
      unreachable.set(agentId, answer.failure);
      continue;
    }
    refuseUsedIds(context, answer.target.chatHighestMessageId);
    await recordTargets(context, group, answer.target.target);
  }
  return unreachable;
}

async function recordTargets(context: TurnContext, records: readonly CallRecord[], target: Target): Promise<void> {
  const { chatId } = context.state.input;
  const keys = records.map(({ call }) => call.key);
  const { targets } = await storeActivities.recordTargets({ chatId, keys, target });
  records.forEach((record, index) => {
    const held = targets[index];
    if (held === undefined) throw new Error(`recordTargets answered ${targets.length} targets for ${keys.length} keys`);
    record.entry = { ...record.entry, target: held };
  });
}

/** The agent has seen later messages of this chat than the store knows of: the store went back in time (I02). */
function refuseUsedIds({ state }: TurnContext, agentHighest: number): void {
  if (agentHighest <= state.highestMessageId) return;
  throw new TurnStopped({
    code: 'store_rolled_back',
    message: `the agent has seen message ${agentHighest} of this chat, the store knows ${state.highestMessageId}`,
  });
}
