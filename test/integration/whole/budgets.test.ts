import { describe, expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { DONE, Whole } from '../../fixtures/whole-turn.ts';
import type { WholeTurn } from '../../fixtures/whole-turn.ts';

const LONG_SECONDS = 60;
/** An interpreter takes its time to start on a busy machine. */
const PYTHON_SECONDS = 12;

const python = `command -v python3 >/dev/null || { echo early; exec sleep ${LONG_SECONDS}; }
exec python3 -c "print('early'); import time; time.sleep(${LONG_SECONDS})"`;

/** By tool-call id, what is run, with the budget as a model may write it. */
const SCRIPT: Readonly<Record<string, { command: string; timeout_seconds?: unknown }>> = {
  both: { command: `sleep ${LONG_SECONDS} & echo hi` },
  errors: { command: `sleep ${LONG_SECONDS} </dev/null >/dev/null & echo hi` },
  noisy: { command: '(while :; do echo tick; sleep 0.1; done) & sleep 1; echo fg-done' },
  lines: { command: `echo line1; echo line2; sleep ${LONG_SECONDS}`, timeout_seconds: 2 },
  buffered: { command: python, timeout_seconds: PYTHON_SECONDS },
  half: { command: `sleep ${LONG_SECONDS}`, timeout_seconds: 0.5 },
  text: { command: 'echo ok', timeout_seconds: '30' },
  millis: { command: 'echo ok', timeout_seconds: 120_000 },
  overflow: { command: 'echo ok', timeout_seconds: 2_147_483.648 },
  none: { command: 'echo ok' },
};
const REFUSED: readonly unknown[] = ['', null, true, -1, 0];

describe('R1: a call ends with its shell or at its budget, with all that was printed, and no budget is read in another unit', () => {
  describe('R14: a call ends with its shell or at its budget, with all that was printed, and no budget is read in another unit', () => {
    describe('R15: a call ends with its shell or at its budget, with all that was printed, and no budget is read in another unit', () => {
      test('F06: a call ends with its shell or at its budget, with all that was printed, and no budget is read in another unit', async () => {
        const whole = await Whole.open();
        const good = Object.entries(SCRIPT).map(([id, given]) => ({ id, name: 'execute', arguments: given }));
        const bad = REFUSED.map((value, index) => ({
          id: `bad${index}`,
          name: 'execute',
          arguments: { command: logged(whole.folder, 'bad'), timeout_seconds: value },
        }));
        const infinite = {
          id: 'infinite',
          name: 'execute',
          arguments: `{"command":${JSON.stringify(logged(whole.folder, 'bad'))},"timeout_seconds":1e400}`,
        };
        const turn = await whole.startTurn([{ calls: [...good, ...bad, infinite] }, DONE]);
        expect(await turn.result()).toMatchObject({ state: 'completed' });

        await expectShellEnds(turn);
        await expectBudgets(turn);
        for (const id of [...bad.map(({ id: given }) => given), 'infinite']) {
          const { status, result } = await turn.call(id);
          expect([id, status]).toEqual([id, 'no_effect']);
          expect(result?.text).toMatch(/timeout_seconds is a number of seconds above 0, not /);
        }
        expect(countRuns(whole.folder, 'bad')).toBe(0);
      });
    });
  });
});

/** R1: the end is the shell's, whoever still holds its output. */
async function expectShellEnds(turn: WholeTurn): Promise<void> {
  for (const id of ['both', 'errors']) {
    const { status, exitCode, result, outcome } = await turn.call(id);
    expect([id, status, exitCode, outcome?.output?.outputOpen]).toEqual([id, 'exited', 0, true]);
    expect(result?.text).toMatch(
      /^hi\n\[exit 0 after .*\]\n\[something that the command started still runs .*handle p\d+\]$/,
    );
    // The wait for the output's end is bounded too.
    expect(Date.parse(outcome?.startedAt ?? '')).toBeGreaterThan(Date.now() - (LONG_SECONDS - 10) * 1000);
  }
  const noisy = await turn.call('noisy');
  expect(noisy).toMatchObject({ status: 'exited', exitCode: 0, outcome: { output: { outputOpen: true } } });
  expect(noisy.result?.text).toMatch(/^(tick\n)+fg-done\n(tick\n)*\[exit 0 /);
}

/** R14: what was printed is there. R15: seconds, a default, a note where the budget was lowered. */
async function expectBudgets(turn: WholeTurn): Promise<void> {
  const text = async (id: string) => (await turn.call(id)).result?.text;
  const overdue = (seconds: number) => `\\[timed out: still running after its ${seconds} s budget: handle p\\d+`;
  expect(await text('lines')).toMatch(new RegExp(`^line1\nline2\n${overdue(2)}`));
  expect(await text('buffered')).toMatch(new RegExp(`^early\n${overdue(PYTHON_SECONDS)}`));
  expect(await text('half')).toMatch(new RegExp(overdue(0.5)));
  expect(await turn.call('half')).toMatchObject({ status: 'detached', evidence: { code: 'budget' } });
  for (const id of ['text', 'millis', 'overflow', 'none']) {
    expect(await turn.call(id)).toMatchObject({ status: 'exited', exitCode: 0 });
    expect(await text(id)).toMatch(/^ok\n\[exit 0 /);
  }
  for (const id of ['millis', 'overflow'])
    expect(await text(id)).toMatch(/\[note: timeout_seconds .* was lowered to 14400/);
  const seconds = async (id: string) => {
    const { request } = await turn.call(id);
    return request !== undefined && 'timeoutSeconds' in request ? request.timeoutSeconds : undefined;
  };
  expect([await seconds('text'), await seconds('millis'), await seconds('none')]).toEqual([30, 14_400, 120]);
}
