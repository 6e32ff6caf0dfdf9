import { describe, expect, test } from 'vitest';
import { findStuckReason } from '../../../client/calls/find-stuck-reason.ts';
import type { Observation } from '../../../client/calls/find-stuck-reason.ts';
import type { PendingActivity } from '../../../client/watch/pending-activities.ts';
import type { ExecuteHeartbeat } from '../../../contract/turn.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const ago = (seconds: number): number => NOW - seconds * 1000;
const at = (seconds: number): string => new Date(ago(seconds)).toISOString();

function pending(change: Partial<PendingActivity>, heartbeat: Partial<ExecuteHeartbeat> = {}): PendingActivity {
  return {
    activityId: '2-a',
    type: 'execute',
    state: 'started',
    attempt: 1,
    scheduledMs: ago(60),
    startedMs: ago(60),
    lastHeartbeatMs: ago(1),
    heartbeatTimeoutMs: 10_000,
    isOfEarlierAttempt: false,
    hasTimedOut: false,
    heartbeat: { v: 1, key: '2-a', phase: 'running', ...heartbeat } as ExecuteHeartbeat,
    ...change,
  };
}

const seen: Observation = { status: 'running', createdMs: ago(60), workflow: 'running', hasTurnWorker: true };

const STUCK: [string, string, Partial<Observation>][] = [
  ['a call of a turn that was terminated', 'turn_closed', { workflow: 'closed' }],
  ['a paused activity', 'paused', { pending: pending({ state: 'paused' }) }],
  ['an agent that is away', 'agent_unreachable', { pending: pending({}, { unreachableSince: at(300) }) }],
  ['a queue that nobody polls', 'no_worker', { pending: pending({ state: 'scheduled' }), lastPollAgoMs: 'none' }],
  ['a queue last polled long ago', 'no_worker', { pending: pending({ state: 'scheduled' }), lastPollAgoMs: 90_000 }],
  ['a task that is not taken', 'not_taken', { pending: pending({ state: 'scheduled' }), lastPollAgoMs: 20_000 }],
  ['a worker that stopped beating', 'heartbeat_overdue', { pending: pending({ lastHeartbeatMs: ago(14) }) }],
  ['a call past its budget', 'past_budget', { pending: pending({}, { deadline: at(30) }) }],
  ['attempts that rise', 'attempts_rising', { pending: pending({ attempt: 7, lastFailure: 'cut off' }) }],
  ['a turn that no worker attends', 'no_turn_worker', { hasTurnWorker: false }],
  ['an unanswered cancel', 'cancel_requested', { status: 'cancel_requested' }],
  [
    'a frozen worker that was handed the next attempt',
    'heartbeat_overdue',
    {
      pending: pending({
        attempt: 2,
        hasTimedOut: true,
        startedMs: ago(2),
        lastHeartbeatMs: ago(20),
        isOfEarlierAttempt: true,
      }),
    },
  ],
  [
    'a worker that was killed a moment ago',
    'heartbeat_overdue',
    {
      pending: pending({ state: 'scheduled', attempt: 2, hasTimedOut: true, lastHeartbeatMs: ago(20) }),
      lastPollAgoMs: 30_000,
    },
  ],
  [
    'a settle that waits for a retired agent',
    'agent_retired',
    { status: 'cancel_requested', workflow: 'closed', retirement: { who: 'Ann', why: 'scrapped', at: at(60) } },
  ],
  [
    'a turn that waits for a retired agent',
    'agent_retired',
    { pending: pending({}, { unreachableSince: at(9) }), retirement: { who: 'Ann', why: 'scrapped', at: at(60) } },
  ],
];

const NOT_STUCK: [string, Partial<Observation>][] = [
  ['a call that beats', { pending: pending({}) }],
  [
    'a call that was just scheduled',
    { pending: pending({ state: 'scheduled', scheduledMs: ago(1) }), lastPollAgoMs: 0 },
  ],
  [
    'a retry that waits out its back-off',
    { pending: pending({ state: 'scheduled', nextAttemptMs: ago(-3), attempt: 2 }), lastPollAgoMs: 90_000 },
  ],
  [
    'an attempt that has just followed on a time-out',
    {
      pending: pending({
        attempt: 2,
        hasTimedOut: true,
        startedMs: ago(1),
        lastHeartbeatMs: ago(12),
        isOfEarlierAttempt: true,
      }),
    },
  ],
  ['a call that gets on at an agent that was retired', { retirement: { who: 'Ann', why: 'scrapped', at: at(60) } }],
  ['a call at its deadline', { pending: pending({}, { deadline: at(1) }) }],
  ['a resolved call, whatever else is seen', { status: 'exited', workflow: 'closed', hasTurnWorker: false }],
];

describe('why a call is stuck', () => {
  test.each(STUCK)('%s is %s', (_, code, change) => {
    expect(findStuckReason({ ...seen, ...change }, NOW)?.code).toBe(code);
  });

  test.each(NOT_STUCK)('%s is not stuck', (_, change) => {
    expect(findStuckReason({ ...seen, ...change }, NOW)).toBeUndefined();
  });

  test('the reason says since when and what to do', () => {
    const away = findStuckReason({ ...seen, pending: pending({}, { unreachableSince: at(300) }) }, NOW);
    expect(away?.text).toMatch(/^agent unreachable since \d\d:\d\d:\d\d \(5 min 00 s\); start it: latchkey agent$/);
  });
});
