import { describe, expect, test } from 'vitest';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** Bytes of a result that a model can afford to read of five thousand redraws. */
const REDRAWN_CHARACTERS_MAX = 200;
const WIDE_BYTES = 200_001;

describe('R10: what a terminal would draw over is shown once, lines and characters stay whole, odd bytes are marked', () => {
  describe('R11: what a terminal would draw over is shown once, lines and characters stay whole, odd bytes are marked', () => {
    test('C10: what a terminal would draw over is shown once, lines and characters stay whole, odd bytes are marked', async () => {
      const whole = await Whole.open();
      const turn = await whole.startTurn([
        commands({
          progress: String.raw`for i in $(seq 1 5000); do printf '\rprogress %d/5000' $i; done; echo; echo end`,
          overwritten: String.raw`printf 'first\rsecond\nthird\n'`,
          crlf: String.raw`printf 'a\r\nb\r\n'`,
          split: String.raw`printf 'x \xe2'; sleep 0.3; printf '\x80\x94 y'`,
          wide: `yes 界 | tr -d '\\n' | head -c ${WIDE_BYTES}`,
          broken: String.raw`printf 'A\xed\xa0\x80B\xffC'`,
          nul: String.raw`printf 'a\0b'`,
          binary: 'head -c 4096 /bin/ls',
        }),
        commands({ next: 'echo alive' }),
        DONE,
      ]);
      expect(await turn.result()).toMatchObject({ state: 'completed', calls: 9 });
      const text = async (id: string) => (await turn.call(id)).result?.text ?? '';

      expect(await text('progress')).toMatch(/progress 5000\/5000\nend\n\[exit 0 /);
      expect((await text('progress')).length).toBeLessThan(REDRAWN_CHARACTERS_MAX);
      expect(await text('overwritten')).toMatch(/^second\nthird\n\[exit 0 /);
      expect(await text('crlf')).toMatch(/^a\r?\nb\r?\n\[exit 0 /);
      expect(await text('split')).toMatch(/^x — y\n\[exit 0 /);
      // Cut in the middle, and never through a character.
      expect(await text('wide')).toMatch(/^界+/);
      expect(await text('wide')).not.toContain('\ufffd');
      expect((await turn.call('wide')).outcome?.output?.totalBytes).toBe(WIDE_BYTES);
      expect(await text('broken')).toMatch(/^A\ufffd+B\ufffdC\n/);
      expect(await text('nul')).toMatch(/^a\\0b\n/);
      expect((await turn.call('binary')).outcome?.output?.totalBytes).toBe(4096);
      for (const { toolCallId, result } of await turn.calls()) {
        const { text: told = '' } = result ?? {};
        expect([toolCallId, told.isWellFormed() && !told.includes('\0')]).toEqual([toolCallId, true]);
      }
      expect(await text('next')).toMatch(/^alive\n/);
    });
  });
});
