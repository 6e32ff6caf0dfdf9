import { Context } from '@temporalio/activity';
import type { AgentClient } from '../agent-client/agent-client.ts';
import type { ExecuteActivities, ExecuteInput } from '../contract/activity-interfaces.ts';
import type { CallOutcome } from '../contract/calls.ts';
import { HEARTBEAT_TIMEOUT_MS_DEFAULT } from '../contract/limits.ts';
import { raiseSequence } from './execute/attempt.ts';
import type { Attempt } from './execute/attempt.ts';
import { systemClock } from './execute/clock.ts';
import type { Clock } from './execute/clock.ts';
import { dispatch } from './execute/dispatch.ts';
import { endDetached } from './execute/endings.ts';
import { follow } from './execute/follow.ts';
import { readEarlierBeat } from './execute/earlier-beat.ts';
import { startPulse } from './execute/pulse.ts';
import { watchSleep } from './execute/sleep-watch.ts';
import type { SleepWatch } from './execute/sleep-watch.ts';
import { openTrustWindow } from './execute/trust-window.ts';
import { applicationFailure } from './failure.ts';
import { faultPoint } from './fault-points.ts';

/** Short enough for a fresh last line in the Temporal UI; shorter still where the heartbeat is. */
const WAIT_MS_MAX = 2000;

export interface ExecuteActivitiesOptions {
  readonly client: AgentClient;
  readonly clock?: Clock;
  /** How long an attempt stays silent at first: a command that ends before costs the server no heartbeat. */
  readonly firstBeatMs?: number;
  readonly sleepWatch?: SleepWatch;
}

export function createExecuteActivities(options: ExecuteActivitiesOptions): ExecuteActivities {
  const { sleepWatch = watchSleep() } = options;
  return { execute: (input) => execute({ ...options, sleepWatch }, input) };
}

/**
 * Runs or re-attaches to the one command of a key and returns its end as a value (design §5). Throws only to let go:
 * on a cancellation of any reason, which leaves the command alone (C6), or when this attempt is stale.
 */
async function execute(
  options: ExecuteActivitiesOptions & { readonly sleepWatch: SleepWatch },
  input: ExecuteInput,
): Promise<CallOutcome> {
  const { client, clock = systemClock, firstBeatMs, sleepWatch } = options;
  const context = Context.current();
  const heartbeatTimeoutMs = context.info.heartbeatTimeoutMs || HEARTBEAT_TIMEOUT_MS_DEFAULT;
  requireAwake(sleepWatch, heartbeatTimeoutMs);
  const earlier = readEarlierBeat(context.info.heartbeatDetails, input);
  const target = earlier === undefined ? input.target : raiseSequence(input.target, earlier.target);
  const pulse = startPulse({
    heartbeat: (details) => context.heartbeat(details),
    clock,
    heartbeatTimeoutMs,
    ...(firstBeatMs !== undefined && { firstBeatMs }),
    // What earlier attempts learned is carried on, since each beat replaces the one before.
    details: { ...earlier, v: 1, key: input.key, phase: 'dispatching', target },
  });
  const attempt: Attempt = {
    input,
    client,
    clock,
    pulse,
    window: openTrustWindow(input.trustWindowMs, earlier?.unreachableMs),
    signal: context.cancellationSignal,
    warn: (message, attributes) => context.log.warn(message, { key: input.key, ...attributes }),
    waitMs: Math.min(WAIT_MS_MAX, Math.floor(heartbeatTimeoutMs / 2)),
    target,
    newestTarget: input.target,
    handle: earlier?.handle,
    awaySince: earlier?.unreachableSince,
  };
  try {
    const outcome = await run(attempt);
    faultPoint('execute-before-report');
    return outcome;
  } finally {
    pulse.stop();
  }
}

/** Throws, so that the next attempt takes over, when this one may have been given up before it was taken up. */
function requireAwake(sleepWatch: SleepWatch, heartbeatTimeoutMs: number): void {
  const leftMs = sleepWatch.leftAfterSleepMs(heartbeatTimeoutMs);
  if (leftMs === 0) return;
  throw applicationFailure(
    'start_pending',
    `this worker was stopped for more than ${heartbeatTimeoutMs} ms, so this attempt may be old and starts nothing; the next one asks.`,
    { retryable: true, nextRetryDelayMs: leftMs },
  );
}

async function run(attempt: Attempt): Promise<CallOutcome> {
  faultPoint('execute-before-start');
  // Only an answer of this journal to this key makes the key one that must exist; a beat before it proves nothing.
  const dispatched = await dispatch(attempt, attempt.handle !== undefined);
  if (dispatched.kind === 'ended') return dispatched.outcome;
  if (dispatched.kind === 'found') return follow(attempt, dispatched.ageMs);
  const { started } = dispatched;
  const isBackground = attempt.input.request.background || started.background === true;
  const isOver = started.exit !== undefined || started.state === 'lost';
  if (isBackground && !isOver) return endDetached(attempt, 'background', { startedAt: started.startedAt });
  return follow(attempt, started.ageMs);
}
