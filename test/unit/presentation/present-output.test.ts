import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PRESENTED_ENCODED_BYTES_MAX, presentOutput } from '../../../activities/presentation/present-output.ts';
import { presentLine } from '../../../activities/presentation/present-line.ts';

const SEED = Number(process.env['FAST_CHECK_SEED'] ?? Date.now() % 2 ** 31);
const KIB = 1024;

/** As an agent answers for `headBytes` and `tailBytes` of 16 KiB. */
function view(bytes: Buffer, outputOpen = false) {
  const total = bytes.length;
  const head = bytes.subarray(0, 16 * KIB);
  const tail = bytes.subarray(Math.max(head.length, total - 16 * KIB));
  return { head, tail, omittedBytes: total - head.length - tail.length, totalBytes: total, outputOpen };
}

function present(text: string | Buffer) {
  return presentOutput(view(Buffer.from(text)));
}

const MARKER = /\n?\[… (\d+) bytes omitted …\]\n|\[… (\d+) bytes of this line omitted …\]/g;

function markedBytes(text: string): number {
  return [...text.matchAll(MARKER)].reduce((sum, [, gap, line]) => sum + Number(gap ?? line), 0);
}

describe('C01: head and tail', () => {
  test('C01: up to 32 KiB with lines up to 2 KiB nothing is cut, in quotes and line ends, too', () => {
    for (const text of [
      '\n'.repeat(32 * KIB),
      '"'.repeat(2047) + '\n',
      ('x'.repeat(2047) + '\n').repeat(16),
      '界\n'.repeat(8192),
    ]) {
      expect(present(text)).toMatchObject({ text, omittedBytes: 0 });
    }
  });

  test('C01: one byte more is cut in the middle, with the exact count and the ends as they are', () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}`).join('\n') + '\n';
    const { text, omittedBytes, totalBytes } = present(lines);
    const [head = '', tail = ''] = text.split(/\[… \d+ bytes omitted …\]\n/);
    expect(head.length).toBe(16 * KIB + (lines[16 * KIB - 1] === '\n' ? 0 : 1));
    expect(lines.startsWith(head.slice(0, 16 * KIB))).toBe(true);
    expect(tail.length).toBe(16 * KIB);
    expect(lines.endsWith(tail)).toBe(true);
    expect(omittedBytes).toBe(totalBytes - 32 * KIB);
    expect(markedBytes(text)).toBe(omittedBytes);
  });

  test(`C01: shown and omitted bytes are all there are, for any text (seed ${SEED})`, () => {
    const piece = fc.oneof(
      fc.constantFrom('a', '\n', 'é', '界', '🙂', '\t', '"'),
      fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !/[\r\0\ufffd…]/.test(text)),
    );
    const text = fc
      .array(fc.tuple(piece, fc.integer({ min: 1, max: 3000 })), { maxLength: 20 })
      .map((pieces) => pieces.map(([unit, times]) => unit.repeat(times)).join(''));
    const property = fc.property(text, (original) => {
      const bytes = Buffer.from(original);
      const { text: shown, omittedBytes } = presentOutput(view(bytes));
      expect(shown.isWellFormed()).toBe(true);
      expect(shown).not.toContain('\ufffd');
      expect(markedBytes(shown)).toBe(omittedBytes);
      if (omittedBytes === 0) {
        expect(shown).toBe(original);
        return;
      }
      const kept = shown.split(/\n?\[… \d+ bytes omitted …\]\n/);
      const joints = kept.map((part) => part.replaceAll(MARKER, ''));
      expect(original.startsWith(joints[0]?.slice(0, 256) ?? '')).toBe(true);
      expect(original.endsWith((joints.at(-1) ?? '').slice(-256))).toBe(true);
      // The line end before the gap's marker is ours or the output's: one byte either way.
      const shownBytes = Buffer.byteLength(joints.join(''));
      const isGapped = kept.length > 1;
      expect([0, isGapped ? 1 : 0]).toContain(bytes.length - shownBytes - omittedBytes);
    });
    fc.assert(property, { seed: SEED, numRuns: 300 });
  });

  test(`any bytes become well-formed text without NUL, bounded as JSON (seed ${SEED}) (part of C03)`, () => {
    const chunk = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.integer({ min: 1, max: 400 }));
    const property = fc.property(fc.array(chunk, { maxLength: 6 }), (chunks) => {
      const bytes = Buffer.concat(chunks.flatMap(([unit, times]) => Array.from({ length: times }, () => unit)));
      const { text, omittedBytes, totalBytes } = presentOutput(view(bytes));
      expect(text.isWellFormed()).toBe(true);
      expect(text).not.toContain('\0');
      expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThanOrEqual(PRESENTED_ENCODED_BYTES_MAX);
      expect(omittedBytes).toBeLessThanOrEqual(totalBytes);
      expect(markedBytes(text)).toBe(omittedBytes);
    });
    fc.assert(property, { seed: SEED, numRuns: 200 });
  });

  test(`C01: every byte of a line is shown, omitted or redrawn (seed ${SEED})`, () => {
    const byte = fc.constantFrom(0x0d, 0x61, 0x62, 0xe7, 0x95, 0x8c);
    const line = fc.array(byte, { maxLength: 6000 }).map((bytes) => Uint8Array.from(bytes));
    const edge = fc.constantFrom<'begin' | 'end' | undefined>('begin', 'end', undefined);
    const property = fc.property(line, fc.boolean(), edge, (bytes, isTerminated, open) => {
      const { text, omittedBytes, redrawnBytes } = presentLine(bytes, isTerminated, open);
      expect(omittedBytes + redrawnBytes).toBeLessThanOrEqual(bytes.length);
      if (text.includes('\ufffd')) return;
      const shown = Buffer.byteLength(text.replaceAll(MARKER, ''));
      expect(shown + omittedBytes + redrawnBytes).toBe(bytes.length + (isTerminated ? 1 : 0));
    });
    fc.assert(property, { seed: SEED, numRuns: 500 });
  });
});

describe('characters', () => {
  test.each(['界', '🙂', 'é'])('a cut never tears %s apart, at any alignment (part of C02)', (character) => {
    for (let shift = 0; shift < 4; shift++) {
      const { text, omittedBytes } = present('x'.repeat(shift) + (character.repeat(300) + '\n').repeat(100));
      expect(text).not.toContain('\ufffd');
      expect(markedBytes(text)).toBe(omittedBytes);
    }
  });

  test('a character split between head and tail of a whole output is whole (part of R10)', () => {
    const bytes = Buffer.from('x — y');
    const split = {
      head: bytes.subarray(0, 3),
      tail: bytes.subarray(3),
      omittedBytes: 0,
      totalBytes: 9,
      outputOpen: false,
    };
    expect(presentOutput(split).text).toBe('x — y');
  });

  test('invalid bytes are U+FFFD and NUL is shown as \\0 (part of R10)', () => {
    expect(present(Buffer.from([0x41, 0xed, 0xa0, 0x80, 0x42, 0xff, 0x43])).text).toBe('A\ufffd\ufffd\ufffdB\ufffdC');
    expect(present('a\0b').text).toBe('a\\0b');
    expect(present(Buffer.from([0xe7, 0x95])).text).toBe('\ufffd');
  });
});

describe('lines', () => {
  test.each(['', '\n'])(
    'a megabyte in one line (then %j) shows both its ends and the size between (part of R12)',
    (end) => {
      const { text, omittedBytes } = present('x'.repeat(1_000_000) + end);
      expect(text).toBe(`${'x'.repeat(2048)}\n[… 995904 bytes omitted …]\n${'x'.repeat(2048)}${end}`);
      expect(omittedBytes).toBe(995_904);
    },
  );

  test('C01: a line over 2 KiB is cut with its own count', () => {
    const { text, omittedBytes } = present(`a\n${'b'.repeat(3000)}c\nd\n`);
    expect(text).toBe(`a\n${'b'.repeat(1024)}[… 953 bytes of this line omitted …]${'b'.repeat(1023)}c\nd\n`);
    expect(omittedBytes).toBe(953);
  });

  test.each([
    ['first\rsecond\nthird\n', 'second\nthird\n'],
    ['a\r\nb\r\n', 'a\r\nb\r\n'],
    ['10%\r20%\r', '20%'],
    ['10%\r20%\r\nok', '20%\r\nok'],
    ['\rprogress\n', 'progress\n'],
  ])('%j is shown as %j (part of R11)', (raw, shown) => {
    expect(present(raw).text).toBe(shown);
  });

  test('thousands of redraws are small and show the last frame (part of R11)', () => {
    const frames = Array.from({ length: 5000 }, (_, index) => `\rprogress ${index + 1}/5000`).join('');
    const { text } = present(`${frames}\nend\n`);
    expect(text.length).toBeLessThan(200);
    expect(text).toMatch(/^progress \d+\/5000\n\[… \d+ bytes omitted …\]\nprogress 5000\/5000\nend\n$/);
  });
});
