import { describe, expect, test } from 'vitest';
import { USER_MESSAGE_BYTES_MAX } from '../../../contract/limits.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** A result's text as it travels: well under the 2 MB that Temporal takes, also three side by side. */
const ENCODED_BYTES_MAX = 300 * 1024;
const RANDOM_BYTES = 3_000_000;

describe('R13: results at the cap, of bytes that grow when encoded, are told in one attempt, and a message of 3 MB is refused at the door', () => {
  test('E14: results at the cap, of bytes that grow when encoded, are told in one attempt, and a message of 3 MB is refused at the door', async () => {
    const whole = await Whole.open();
    const random = `head -c ${RANDOM_BYTES} /dev/urandom`;
    const step = commands({
      first: random,
      second: random,
      third: random,
      // A name as long as a summary may be ends within a pair of surrogates.
      emoji: `: ${'x'.repeat(195)}${'😀'.repeat(20)}; printf 'A\\xed\\xa0\\x80B\\xffC'; printf 'a\\0b'`,
      lines: `yes '"\\' | head -c ${RANDOM_BYTES}`,
    });
    const lone = { id: 'lone', name: 'execute', arguments: { command: 'echo \ud800' } };
    const turn = await whole.startTurn([{ calls: [...(step.calls ?? []), lone] }, DONE]);
    expect(await turn.result()).toMatchObject({ state: 'completed', calls: 6 });

    for (const id of ['first', 'second', 'third', 'lines']) {
      const { status, exitCode, result, outcome } = await turn.call(id);
      expect([id, status, exitCode, outcome?.output?.totalBytes]).toEqual([id, 'exited', 0, RANDOM_BYTES]);
      expect(result?.text).toMatch(/\[output: 3000000 bytes in all, \d+ of them not shown here\]$/);
      expect(Buffer.byteLength(JSON.stringify(result?.text))).toBeLessThan(ENCODED_BYTES_MAX);
      expect(result?.text.isWellFormed()).toBe(true);
    }
    expect((await turn.call('emoji')).result?.text).toMatch(/^A\ufffd+B\ufffdCa\\0b\n\[exit 0 /);
    expect(await turn.call('lone')).toMatchObject({ status: 'no_effect', evidence: { code: 'invalid_arguments' } });
    const executions = await turn.ended('execute');
    expect(executions.map(({ attempt, end }) => `${attempt} ${end}`)).toEqual(Array(5).fill('1 completed'));

    const { chatId, store } = whole;
    const message = { chatId, clientMessageId: 'too-long', text: 'x'.repeat(RANDOM_BYTES) };
    const limit = `at most ${USER_MESSAGE_BYTES_MAX} are accepted`;
    await expect(store.enqueueUserMessage(message)).rejects.toThrow(limit);
    // What was refused left nothing behind, and what was odd is in a history that the model still takes.
    const next = await whole.startTurn([commands({ next: 'echo alive' }), DONE]);
    expect(await next.result()).toMatchObject({ state: 'completed' });
    expect((await next.call('next')).result?.text).toMatch(/^alive\n/);
  });
});
