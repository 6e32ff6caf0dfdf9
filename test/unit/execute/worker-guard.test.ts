import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import { toSafeFailure, guardActivity } from '../../../workers/guard-activity.ts';
import { readExecuteWorkerConfiguration, readTurnWorkerConfiguration } from '../../../workers/configuration.ts';

const BROKEN = 'torn \ud800 apart';

function textsOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const type = error instanceof ApplicationFailure ? (error.type ?? '') : '';
  return [error.message, error.stack ?? '', type, ...textsOf(error.cause)];
}

describe('the guard around activities', () => {
  test.each<[string, unknown]>([
    ['a plain error', new Error(BROKEN)],
    ['an error with a cause', new Error('outer', { cause: new Error(BROKEN, { cause: new Error(BROKEN) }) })],
    ['an error with an odd name', Object.assign(new Error('x'), { name: BROKEN })],
    ['an application failure', ApplicationFailure.create({ message: BROKEN, type: BROKEN, nonRetryable: true })],
    ['a string', BROKEN],
    ['a cancellation', new CancelledFailure(BROKEN)],
    ['a very long text', new Error(BROKEN.repeat(10_000))],
  ])('%s leaves with text that can be encoded (part of E14)', (_, thrown) => {
    const failure = toSafeFailure(thrown);
    for (const text of textsOf(failure)) {
      expect(text.isWellFormed()).toBe(true);
      expect(text.length).toBeLessThanOrEqual(2000);
    }
  });

  test('keeps type, retry decision and class', () => {
    const refused = toSafeFailure(ApplicationFailure.create({ message: 'm', type: 'turn_closed', nonRetryable: true }));
    expect(refused).toMatchObject({ type: 'turn_closed', nonRetryable: true, message: 'm' });
    const cancelled = new CancelledFailure('PAUSED');
    expect(toSafeFailure(cancelled)).toBe(cancelled);
  });

  test('a result over the limit fails once and for good (part of E14)', async () => {
    const environment = new MockActivityEnvironment(
      {},
      { interceptors: [guardActivity], logger: new DefaultLogger('ERROR') },
    );
    const huge = environment.run(async () => 'x'.repeat(2 * 1024 * 1024));
    await expect(huge).rejects.toMatchObject({ type: 'invariant_broken', nonRetryable: true });
    expect(await environment.run(async () => 'small')).toBe('small');
    expect(await environment.run(async () => undefined)).toBe(undefined);
  });
});

describe('the configuration of a worker', () => {
  const env = { LATCHKEY_AGENT_ADDRESS: 'unix:/run/agent.sock' };

  test('a flag wins over its variable, the variable over the default', () => {
    const args = ['--agent', 'http://127.0.0.1:7000'];
    expect(readExecuteWorkerConfiguration({ env, args: [] }).agentAddress).toBe('unix:/run/agent.sock');
    expect(readExecuteWorkerConfiguration({ env, args }).agentAddress).toBe('http://127.0.0.1:7000');
    expect(readExecuteWorkerConfiguration({ env, args }).heartbeatThrottleMs).toBe(1000);
    const throttled = { ...env, LATCHKEY_HEARTBEAT_THROTTLE_MS: '200' };
    expect(readExecuteWorkerConfiguration({ env: throttled, args: [] }).heartbeatThrottleMs).toBe(200);
  });

  test.each([
    [{}, [], /^LATCHKEY_AGENT_ADDRESS \(or --agent\) is not set: give the address/],
    [{ LATCHKEY_AGENT_ADDRESS: 'agent' }, [], /^LATCHKEY_AGENT_ADDRESS .* is "agent": must be unix:/],
    [{ ...env, LATCHKEY_EXECUTE_SLOTS: 'many' }, [], /^LATCHKEY_EXECUTE_SLOTS .* is "many": must be a positive whole/],
    [env, ['--agnet', 'x'], /--agnet.*Known: .*--agent/],
  ])('a wrong one (%o %o) is one error that names the setting', (given, args, message) => {
    expect(() => readExecuteWorkerConfiguration({ env: given, args })).toThrow(message);
  });

  test('the turn worker needs a store', () => {
    expect(() => readTurnWorkerConfiguration({ env: {}, args: [] })).toThrow(/LATCHKEY_STORE .* is not set/);
    expect(readTurnWorkerConfiguration({ env: {}, args: ['--store', 'sqlite:/x'] })).toMatchObject({
      storeUrl: 'sqlite:/x',
      turnQueue: 'latchkey-turns',
    });
  });
});
