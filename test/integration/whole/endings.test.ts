import { describe, expect, test } from 'vitest';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

describe('R3: whatever way a command ends by itself is a normal result that says so, of one attempt and no failure', () => {
  test('E15: whatever way a command ends by itself is a normal result that says so, of one attempt and no failure', async () => {
    const whole = await Whole.open();
    const step = commands({
      code: 'echo out; exit 3',
      kill: 'echo before; kill -9 $$',
      term: 'echo before; kill -TERM $$',
      budget: { command: 'echo before; sleep 60', timeout_seconds: 1, on_timeout: 'kill' },
      missing: 'no-such-program',
    });
    const turn = await whole.startTurn([step, DONE]);
    expect(await turn.result()).toMatchObject({ state: 'completed', calls: 5 });

    const texts = Object.fromEntries((await turn.calls()).map(({ toolCallId, result }) => [toolCallId, result?.text]));
    expect(texts['code']).toMatch(/^out\n\[exit 3 after /);
    expect(texts['kill']).toMatch(/^before\n\[exit 137 after .*: died of SIGKILL, which Latchkey did not send/);
    expect(texts['term']).toMatch(/^before\n\[exit 143 after .*: died of SIGTERM, which Latchkey did not send/);
    expect(texts['budget']).toMatch(/^before\n\[timed out: killed by the agent at its time limit of 1 s/);
    expect(texts['missing']).toMatch(/no-such-program.*not found\n\[exit 127 after /);
    const calls = await turn.calls();
    expect(calls.every(({ status, result }) => status === 'exited' && result?.isError === true)).toBe(true);
    const executions = await turn.ended('execute');
    expect(executions.map(({ attempt, end }) => [attempt, end])).toEqual(calls.map(() => [1, 'completed']));
  });
});
