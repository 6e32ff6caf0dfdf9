import { describe, expect, test } from 'vitest';
import { openTrustWindow } from '../../../activities/execute/trust-window.ts';
import { SCRIPTED_TARGET } from '../../fakes/scripted-agent.ts';
import { byVerb, executeInput, exited, KEY, prepareExecute, STARTED } from './execute-call.ts';
import { createManualClock } from './manual-clock.ts';

describe('the trust window', () => {
  test('counts the time between tries that failed, and ends with a failed try', () => {
    const window = openTrustWindow(60_000);
    expect(window.fail(0)).toBe(false);
    expect(window.fail(30_000)).toBe(false);
    expect(window.fail(59_999)).toBe(false);
    expect(window.fail(60_000)).toBe(true);
  });

  test('a gap of more than a minute counts as nothing (part of L22)', () => {
    const window = openTrustWindow(60_000);
    window.fail(0);
    expect(window.fail(8 * 3_600_000)).toBe(false);
    expect(window.awayMs).toBe(0);
  });

  test('begins anew with every answer', () => {
    const window = openTrustWindow(60_000, 59_000);
    window.answer();
    expect(window.fail(100)).toBe(false);
    expect(window.fail(2000)).toBe(false);
  });

  test('goes on from what an earlier attempt had counted', () => {
    const window = openTrustWindow(60_000, 59_000);
    expect(window.fail(100)).toBe(false);
    expect(window.fail(1100)).toBe(true);
  });
});

describe('execute while its agent is away', () => {
  test('the beat tells since when, and past the window the call is unknown, never "nothing ran" (part of E10)', async () => {
    const clock = createManualClock();
    const { beats, run } = await prepareExecute(() => 'cut', { clock });
    const outcome = await run(executeInput({}, { trustWindowMs: 30_000 }));
    expect(outcome).toMatchObject({ status: 'unknown', evidence: { code: 'trust_window' } });
    expect(outcome.text).not.toMatch(/nothing ran/);
    const away = beats.filter(({ phase }) => phase === 'unreachable');
    expect(away.length).toBeGreaterThan(20);
    expect(new Set(away.map(({ unreachableSince }) => unreachableSince)).size).toBe(1);
    expect(away.at(-1)?.unreachableMs).toBeGreaterThanOrEqual(30_000);
  });

  test('the time away is carried over attempts (part of E10)', async () => {
    const heartbeatDetails = {
      v: 1,
      key: KEY,
      phase: 'unreachable',
      target: SCRIPTED_TARGET,
      unreachableSince: '2026-01-01T00:00:00.000Z',
      unreachableMs: 29_000,
    };
    const clock = createManualClock();
    const { agent, beats, run } = await prepareExecute(() => 'cut', { clock, info: { heartbeatDetails } });
    expect(await run(executeInput({}, { trustWindowMs: 30_000 }))).toMatchObject({ status: 'unknown' });
    expect(agent.requests.length).toBeLessThan(8);
    expect(beats.at(-1)?.unreachableSince).toBe('2026-01-01T00:00:00.000Z');
  });

  test('an agent that comes back in time is not doubted, and the beat says so (part of L23)', async () => {
    const clock = createManualClock();
    const { beats, run } = await prepareExecute(
      byVerb({
        start: (_, count) => (count < 10 ? 'cut' : { answer: STARTED }),
        output: { answer: exited('fine') },
      }),
      { clock },
    );
    expect(await run()).toMatchObject({ status: 'exited' });
    expect(beats.at(-1)?.phase).toBe('running');
    expect(beats.at(-1)).not.toHaveProperty('unreachableSince');
  });
});
