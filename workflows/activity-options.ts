/** How each activity is called: queue, time-outs, retries. Every cancellation type is said: its default is not what
 * the SDK's typings say (shared/notes/temporal-live.md A2). */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type {
  ControlActivities,
  ExecuteActivities,
  NoticeActivities,
  StoreActivities,
  SweepActivities,
  TurnActivities,
} from '../contract/activity-interfaces.ts';
import type { ChatActivities, ChatWatchActivities } from '../contract/chat-activities.ts';
import type { CallOutcome, CommittedCall, ExecuteRequest } from '../contract/calls.ts';
import { activityIdOf } from '../contract/execution-key.ts';
import type { FailureCode } from '../contract/failures.ts';
import type { AgentId, ExecutionKey } from '../contract/ids.ts';
import {
  DESCRIBE_AGENT_MS_MAX,
  EXECUTE_BACKSTOP_MS,
  HEARTBEAT_TIMEOUT_MS_DEFAULT,
  INTERRUPT_GRACE_MS,
  NOTICE_MS_MAX,
  SETTLE_MS_MAX,
  SUMMARY_CHARACTERS_MAX,
  TRUST_WINDOW_MS_DEFAULT,
} from '../contract/limits.ts';
import { controlTaskQueue, executeTaskQueue } from '../contract/names.ts';
import type { TurnTimings } from '../contract/turn.ts';
import { toSafeText } from '../contract/well-formed.ts';
import { oneByOne } from './one-by-one.ts';

/** One write to the store; a worker that hangs in it is noticed after this. */
const STORE_WRITE_MS_MAX = 10_000;
/** One model call; its own liveness is the heartbeat. */
const GENERATE_ATTEMPT_MS_MAX = 60 * 60_000;
const GENERATE_ATTEMPTS_MAX = 25;
/** One try of a cancel: the grace, the kill, and the output that is read with it. */
const SETTLE_ATTEMPT_MS_MAX = 30_000;
const SWEEP_LOOK_MS_MAX = 120_000;
/** One try of a notice: its receiver has half of it to answer. */
const NOTICE_ATTEMPT_MS_MAX = 30_000;
const NOTICE_PAUSE_MS_MAX = 10 * 60_000;
/** One attempt; the next one goes on looking. */
const WATCHED_TURN_MS_MAX = 24 * 60 * 60_000;
/** Refusals of the store and of the provider: the same question gets the same answer. */
const NEVER_RETRIED: FailureCode[] = [
  'bad_request',
  'body_too_large',
  'unknown_chat',
  'unknown_message',
  'queue_full',
  'chat_archived',
  'configuration',
  'turn_closed',
  'step_closed',
  'chat_busy',
  'store_rolled_back',
  'invariant_broken',
  'model_refused',
  'model_unauthorized',
  'model_quota_exhausted',
  'model_context_too_long',
  'notice_refused',
];

export function fillTimings(timings: TurnTimings | undefined): Required<TurnTimings> {
  return {
    heartbeatTimeoutMs: timings?.heartbeatTimeoutMs ?? HEARTBEAT_TIMEOUT_MS_DEFAULT,
    trustWindowMs: timings?.trustWindowMs ?? TRUST_WINDOW_MS_DEFAULT,
    interruptGraceMs: timings?.interruptGraceMs ?? INTERRUPT_GRACE_MS,
    describeAgentMs: timings?.describeAgentMs ?? DESCRIBE_AGENT_MS_MAX,
    settleForMs: timings?.settleForMs ?? SETTLE_MS_MAX,
  };
}

/** Tried until the store answers: a turn can't go on without it. */
export const turnActivities = proxyActivities<Pick<TurnActivities, 'takeTurn' | 'closeStep'>>({
  startToCloseTimeout: STORE_WRITE_MS_MAX,
  retry: { initialInterval: 200, maximumInterval: 10_000, nonRetryableErrorTypes: NEVER_RETRIED },
  cancellationType: 'TRY_CANCEL',
});

/** Likewise, inside the workflow task: quick and idempotent, since a killed worker makes them run again. */
const STORE_OPTIONS = {
  startToCloseTimeout: STORE_WRITE_MS_MAX,
  retry: { initialInterval: 100, maximumInterval: 5000, nonRetryableErrorTypes: NEVER_RETRIED },
  cancellationType: 'TRY_CANCEL',
} as const;

export const storeActivities = oneByOne(proxyLocalActivities<Omit<StoreActivities, 'recordResult'>>(STORE_OPTIONS));

/** What a chat does in the store, likewise. */
export const chatActivities = oneByOne(proxyLocalActivities<ChatActivities>(STORE_OPTIONS));

/** Looks until the turn has ended; an attempt that is lost is noticed by its heartbeat. */
export const turnEndActivities = proxyActivities<Pick<ChatWatchActivities, 'awaitTurnEnd'>>({
  startToCloseTimeout: WATCHED_TURN_MS_MAX,
  heartbeatTimeout: STORE_WRITE_MS_MAX,
  retry: { initialInterval: 200, maximumInterval: 5000, nonRetryableErrorTypes: NEVER_RETRIED },
  cancellationType: 'TRY_CANCEL',
});

/** Of the store's writes the one that a timeline has many of, so it says whose result it was. */
export function recordResultActivity(
  key: ExecutionKey,
  { status }: CallOutcome,
): Pick<StoreActivities, 'recordResult'> {
  const summary = `${activityIdOf(key)} ${status}`;
  return oneByOne(proxyLocalActivities<Pick<StoreActivities, 'recordResult'>>({ ...STORE_OPTIONS, summary }));
}

export function generateStepActivity(
  step: number,
  timings: Required<TurnTimings>,
): Pick<TurnActivities, 'generateStep'> {
  return proxyActivities<Pick<TurnActivities, 'generateStep'>>(modelOptions(timings, `step ${step}`));
}

/** As a step of the model, which it is. */
export function compactConversationActivity(
  number: number,
  timings: Required<TurnTimings>,
): Pick<TurnActivities, 'compactConversation'> {
  return proxyActivities<Pick<TurnActivities, 'compactConversation'>>(modelOptions(timings, `summary ${number}`));
}

function modelOptions(timings: Required<TurnTimings>, summary: string) {
  return {
    startToCloseTimeout: GENERATE_ATTEMPT_MS_MAX,
    heartbeatTimeout: timings.heartbeatTimeoutMs,
    retry: {
      initialInterval: 1000,
      maximumInterval: 60_000,
      maximumAttempts: GENERATE_ATTEMPTS_MAX,
      nonRetryableErrorTypes: NEVER_RETRIED,
    },
    summary,
    cancellationType: 'TRY_CANCEL',
  } as const;
}

export function executeActivity(
  call: CommittedCall,
  request: ExecuteRequest,
  timings: Required<TurnTimings>,
): ExecuteActivities {
  return proxyActivities<ExecuteActivities>({
    taskQueue: executeTaskQueue(call.agentId),
    activityId: activityIdOf(call.key),
    summary: toSafeText(call.summary, SUMMARY_CHARACTERS_MAX),
    heartbeatTimeout: timings.heartbeatTimeoutMs,
    scheduleToStartTimeout: timings.trustWindowMs,
    scheduleToCloseTimeout: request.timeoutSeconds * 1000 + EXECUTE_BACKSTOP_MS,
    retry: { initialInterval: 100, backoffCoefficient: 2, maximumInterval: 10_000 },
    // Let go only by its own scope, and then without waiting: a paused attempt would hold the turn (A4 of the notes).
    cancellationType: 'TRY_CANCEL',
  });
}

/** On the control queue; tried for as long as describeAgent is. Whether it was sent then, a fence tells (K7). */
export function signalActivity(
  call: CommittedCall,
  { describeAgentMs }: Required<TurnTimings>,
): Pick<ControlActivities, 'signalProcess'> {
  return proxyActivities<Pick<ControlActivities, 'signalProcess'>>({
    ...shortOptions(call.agentId, describeAgentMs, call.summary),
    activityId: activityIdOf(call.key),
  });
}

/**
 * A settle's question, asked until its agent answers: tries that fail cost no history, and one that waits for a worker
 * is taken as soon as there is one.
 */
export function settleActivities(agentId: AgentId, askForMs: number, summary: string): ControlActivities {
  return proxyActivities<ControlActivities>({
    taskQueue: controlTaskQueue(agentId),
    summary: toSafeText(summary, SUMMARY_CHARACTERS_MAX),
    scheduleToCloseTimeout: askForMs,
    startToCloseTimeout: SETTLE_ATTEMPT_MS_MAX,
    retry: { initialInterval: 500, backoffCoefficient: 2, maximumInterval: 60_000 },
    cancellationType: 'TRY_CANCEL',
  });
}

/** On the turn queue: a look over the store, and a describe for each turn that runs in it. */
export const sweepActivities = proxyActivities<SweepActivities & Pick<ChatWatchActivities, 'wakeChats'>>({
  startToCloseTimeout: SWEEP_LOOK_MS_MAX,
  heartbeatTimeout: STORE_WRITE_MS_MAX,
  retry: { initialInterval: 1000, maximumAttempts: 3, nonRetryableErrorTypes: NEVER_RETRIED },
  cancellationType: 'TRY_CANCEL',
});

/** A receiver that is away for hours still gets its notice; a cancel ends it at once. */
export const noticeActivities = proxyActivities<NoticeActivities>({
  scheduleToCloseTimeout: NOTICE_MS_MAX,
  startToCloseTimeout: NOTICE_ATTEMPT_MS_MAX,
  retry: { initialInterval: 1000, maximumInterval: NOTICE_PAUSE_MS_MAX, nonRetryableErrorTypes: NEVER_RETRIED },
  cancellationType: 'TRY_CANCEL',
});

/** Something short at an agent, tried for `tryForMs` in all. */
export function controlActivities(agentId: AgentId, tryForMs: number, summary: string): ControlActivities {
  return proxyActivities<ControlActivities>(shortOptions(agentId, tryForMs, summary));
}

function shortOptions(agentId: AgentId, tryForMs: number, summary: string) {
  return {
    taskQueue: controlTaskQueue(agentId),
    summary: toSafeText(summary, SUMMARY_CHARACTERS_MAX),
    scheduleToCloseTimeout: tryForMs,
    // A worker that dies in the first try leaves time for a second.
    startToCloseTimeout: tryForMs / 2,
    retry: { initialInterval: 100, maximumInterval: 1000 },
    cancellationType: 'TRY_CANCEL',
  } as const;
}
