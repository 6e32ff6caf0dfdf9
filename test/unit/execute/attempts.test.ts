import { ActivityCancellationDetails } from '@temporalio/common/lib/activity-cancellation-details.js';
import type { ActivityCancellationDetailsOptions } from '@temporalio/common/lib/activity-cancellation-details.js';
import { CancelledFailure } from '@temporalio/activity';
import { describe, expect, test } from 'vitest';
import { startPulse } from '../../../activities/execute/pulse.ts';
import type { JournalId } from '../../../contract/ids.ts';
import type { ExecuteHeartbeat } from '../../../contract/turn.ts';
import { SCRIPTED_TARGET } from '../../fakes/scripted-agent.ts';
import { byVerb, exited, KEY, outputAnswer, prepareExecute, STARTED } from './execute-call.ts';
import { createManualClock } from './manual-clock.ts';

const EARLIER: ExecuteHeartbeat = { v: 1, key: KEY, phase: 'running', target: SCRIPTED_TARGET, handle: 'p1' as never };

type Reason = Parameters<Awaited<ReturnType<typeof prepareExecute>>['environment']['cancel']>[0];

describe('letting go', () => {
  test.each<[Reason, ActivityCancellationDetailsOptions]>([
    ['CANCELLED', { cancelRequested: true }],
    ['PAUSED', { paused: true }],
    ['RESET', { reset: true }],
    ['WORKER_SHUTDOWN', { workerShutdown: true }],
    ['NOT_FOUND', { notFound: true }],
    ['TIMED_OUT', { timedOut: true, notFound: true }],
  ])('C6: %s ends the attempt at once and leaves the command alone', async (reason, flags) => {
    const asked = Promise.withResolvers<void>();
    const { agent, environment, run } = await prepareExecute(
      byVerb({
        start: { answer: STARTED },
        output: () => {
          asked.resolve();
          return 'hang';
        },
      }),
    );
    const ended = run().catch((error: unknown) => error);
    await asked.promise;
    environment.cancel(reason, new ActivityCancellationDetails(flags));
    const error = await ended;
    expect(error).toBeInstanceOf(CancelledFailure);
    expect((error as Error).message).toBe(reason);
    await agent.abandoned;
    expect(agent.requests.map(({ verb }) => verb)).toEqual(['start', 'output']);
  });

  test('C6: an attempt that waits for its agent to come back lets go, too', async () => {
    const asked = Promise.withResolvers<void>();
    const { environment, run } = await prepareExecute(() => {
      asked.resolve();
      return 'cut';
    });
    const ended = run().catch((error: unknown) => error);
    await asked.promise;
    environment.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true }));
    expect(await ended).toBeInstanceOf(CancelledFailure);
  });
});

describe('what one attempt leaves to the next', () => {
  test('C5: a silent command is beaten for by a timer, also while its agent is slow', async () => {
    const { beats, environment, run } = await prepareExecute(byVerb({ start: { answer: STARTED }, output: 'hang' }), {
      info: { heartbeatTimeoutMs: 400 },
    });
    const ended = run().catch((error: unknown) => error);
    await expect.poll(() => beats.filter(({ phase }) => phase === 'running').length).toBeGreaterThan(3);
    environment.cancel('CANCELLED');
    expect(await ended).toBeInstanceOf(CancelledFailure);
  });

  test('K5: only an answer puts a handle into the heartbeat', async () => {
    const { beats, run } = await prepareExecute(
      byVerb({
        start: { answer: STARTED },
        output: (_, count) => ({
          answer: count === 1 ? outputAnswer('', { total: 42, lastLine: 'working' }, false) : exited(''),
        }),
      }),
    );
    await run();
    expect(beats[0]).toEqual({ v: 1, key: KEY, phase: 'dispatching', target: SCRIPTED_TARGET });
    expect(beats.at(-1)).toMatchObject({
      phase: 'running',
      handle: 'p1',
      started: STARTED.startedAt,
      bytes: 42,
      lastLine: 'working',
    });
  });

  test.each<[string, unknown, boolean]>([
    ['a handle', EARLIER, true],
    ['no handle', { ...EARLIER, handle: undefined }, false],
    [
      'a handle of another journal',
      { ...EARLIER, target: { ...SCRIPTED_TARGET, journalId: 'old' as JournalId } },
      false,
    ],
    ['a handle of another key', { ...EARLIER, key: '6-other' }, false],
    ['nothing at all', undefined, false],
  ])(
    'K1: with %s in the details the key must exist only if its journal has answered for it',
    async (_, heartbeatDetails, mustExist) => {
      const { agent, beats, run } = await prepareExecute(
        byVerb({ start: { answer: STARTED }, output: { answer: exited('') } }),
        { info: { attempt: 2, heartbeatDetails } },
      );
      await run();
      expect(agent.requests[0]?.body['mustExist'] === true).toBe(mustExist);
      // The first beat replaces the details of the attempt before, so it carries on what is known.
      expect(beats[0]?.handle !== undefined).toBe(mustExist);
    },
  );

  test('K2: a key that must exist and is absent is unknown, never run again', async () => {
    const { agent, run } = await prepareExecute(
      byVerb({ start: { answer: { outcome: 'absent' } }, output: { refuse: 'unknown_process' } }),
      { info: { attempt: 2, heartbeatDetails: EARLIER } },
    );
    expect(await run()).toMatchObject({ status: 'unknown', evidence: { code: 'absent' } });
    expect(agent.requests.filter(({ verb }) => verb === 'start')).toHaveLength(1);
  });

  test('the highest sequence that was seen goes along with the next request (part of I01)', async () => {
    const { agent, run } = await prepareExecute(
      byVerb({
        start: { answer: STARTED, by: { ...SCRIPTED_TARGET, sequence: 9 } },
        output: { answer: exited(''), by: { ...SCRIPTED_TARGET, sequence: 11 } },
      }),
    );
    const outcome = await run();
    expect(agent.requests.map(({ body }) => (body['target'] as { sequence: number }).sequence)).toEqual([5, 9]);
    expect(outcome.target?.sequence).toBe(11);
  });
});

describe('an attempt that did not beat in time', () => {
  function pulseWithClock() {
    const clock = createManualClock();
    const details: ExecuteHeartbeat = { v: 1, key: KEY, phase: 'dispatching', target: SCRIPTED_TARGET };
    const pulse = startPulse({ heartbeat: () => undefined, clock, heartbeatTimeoutMs: 4000, details });
    pulse.stop();
    return { clock, pulse };
  }

  test('starts nothing, also when it has beaten again since (part of L22)', () => {
    const { clock, pulse } = pulseWithClock();
    clock.advance(4001);
    pulse.tell({ phase: 'unreachable' });
    expect(() => pulse.requireLive()).toThrow(/did not beat/);
  });

  test('a short pause changes nothing (part of L23)', () => {
    const { clock, pulse } = pulseWithClock();
    clock.advance(3999);
    expect(() => pulse.requireLive()).not.toThrow();
  });

  test('leaves the key to the next attempt by a retryable failure (part of L22)', async () => {
    const clock = createManualClock();
    const { agent, run } = await prepareExecute(
      byVerb({
        start: () => {
          clock.advance(3_600_000);
          return 'cut';
        },
      }),
      { clock },
    );
    await expect(run()).rejects.toMatchObject({ type: 'start_pending', nonRetryable: false });
    expect(agent.requests).toHaveLength(1);
  });
});
