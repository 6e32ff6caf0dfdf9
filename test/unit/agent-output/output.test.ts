import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findFailureCode } from '../../../contract/failures.ts';
import { readBytes } from '../../../agent/output/read-bytes.ts';
import { findLastLine, readLastLine } from '../../../agent/output/read-last-line.ts';
import { readTotals } from '../../../agent/output/read-totals.ts';
import { readView } from '../../../agent/output/read-view.ts';
import { SegmentWriter } from './segment-writer.ts';

describe('totals', () => {
  test('are zero before the reader has created its first file', async () => {
    await using writer = await SegmentWriter.create(4);
    expect(await readTotals(writer.folder, 4)).toEqual({
      total: 0,
      dropped: [],
      isDrained: false,
      isIncomplete: false,
    });
    expect((await readBytes(writer.folder, { from: 0, bytesMax: 9 }, 4)).bytes).toHaveLength(0);
    expect(await readLastLine(writer.folder, 4)).toBe('');
  });

  test('say whether the reader met the end or failed', async () => {
    await using ended = await SegmentWriter.create(4);
    await ended.write(Buffer.from('abc'));
    await ended.end();
    expect(await readTotals(ended.folder, 4)).toMatchObject({ total: 3, isDrained: true, isIncomplete: false });
    await using failed = await SegmentWriter.create(4);
    await failed.end('output-lost');
    expect(await readView(failed.folder, { headBytes: 1, tailBytes: 1 }, 4)).toMatchObject({ isIncomplete: true });
  });

  test('fail when the folder is gone, because zero bytes would be a false answer', async () => {
    await expect(readTotals(join(import.meta.dirname, 'no-such-folder'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('reading by offset', () => {
  test('names the dropped range that an offset lies in and does not clamp it (part of C08)', async () => {
    await using writer = await SegmentWriter.create(4);
    await writer.write(Buffer.from('0123456789abcdefghijk'));
    const refusal = await readBytes(writer.folder, { from: 7, bytesMax: 2 }, 4).catch((error: unknown) => error);
    expect(findFailureCode(refusal)).toBe('bad_request');
    expect((refusal as Error).message).toContain('from is 7');
    expect((refusal as Error).message).toContain('4 to 16');
    expect((await readBytes(writer.folder, { from: 16, bytesMax: 99 }, 4)).bytes.toString()).toBe('ghijk');
  });

  test('crosses the border of two segments in one answer', async () => {
    await using writer = await SegmentWriter.create(4);
    await writer.write(Buffer.from('01234567'));
    const { next, bytes } = await readBytes(writer.folder, { from: 2, bytesMax: 4 }, 4);
    expect([next, bytes.toString()]).toEqual([6, '2345']);
  });

  test('beyond the end is empty and stays where it was', async () => {
    await using writer = await SegmentWriter.create(4);
    await writer.write(Buffer.from('0123'));
    expect(await readBytes(writer.folder, { from: 9, bytesMax: 4 }, 4)).toMatchObject({ from: 9, next: 9 });
  });

  test('shows concurrent readers every byte once while the output grows (part of C08)', async () => {
    const segmentBytes = 1024;
    // Two segments only, so that nothing is dropped and each reader must see all.
    const whole = Buffer.alloc(2 * segmentBytes, 0).map((_, index) => index % 251);
    await using writer = await SegmentWriter.create(segmentBytes);
    const readers = [7, 100, 1500].map((bytesMax) => readToEnd(writer.folder, bytesMax, segmentBytes));
    for (let start = 0; start < whole.length; start += 97) await writer.write(whole.subarray(start, start + 97));
    await writer.end();
    for (const seen of await Promise.all(readers)) expect(seen.equals(whole)).toBe(true);
  });

  test('while segments rotate gives the right bytes or names the dropped range, never others', async () => {
    const segmentBytes = 64;
    const byteAt = (offset: number): number => (offset * 7) % 251;
    const whole = Buffer.alloc(200 * segmentBytes).map((_, index) => byteAt(index));
    await using writer = await SegmentWriter.create(segmentBytes);
    const reading = followTail(writer.folder, segmentBytes);
    for (let start = 0; start < whole.length; start += 50) await writer.write(whole.subarray(start, start + 50));
    await writer.end();
    const pieces = await reading;
    expect(pieces.length).toBeGreaterThan(0);
    for (const { from, bytes } of pieces) expect(bytes.equals(whole.subarray(from, from + bytes.length))).toBe(true);
    expect(pieces.at(-1)?.next).toBe(whole.length);
  });

  test('names a segment that was removed by hand as dropped', async () => {
    await using writer = await SegmentWriter.create(4);
    await writer.write(Buffer.from('0123456789'));
    await rm(join(writer.folder, 'segment.1'));
    expect((await readTotals(writer.folder, 4)).dropped).toEqual([[4, 8]]);
    await expect(readBytes(writer.folder, { from: 5, bytesMax: 1 }, 4)).rejects.toThrow('4 to 8');
  });
});

describe('the last line', () => {
  const LINES: [shown: string, output: string][] = [
    ['second', 'first\nsecond\n'],
    ['second', 'first\nsecond\n\n  \n'],
    ['100%', ' 10%\r 50%\r100%'],
    ['100%', ' 10%\r 50%\r100%\r\n'],
    ['50%', '10%\r50%\r\x1b[K'],
    ['red text', 'old\n\x1b[1;31mred\x1b[0m text\x1b]0;a title\x07\n'],
    ['a b', 'a\tb\x07\0\n'],
    ['user.txt', '\u202euser.txt'],
    ['', '\x1b[2J\x1b[H\r\n'],
    ['界', '界'],
  ];
  test.each(LINES)('is %j', (shown, output) => {
    expect(findLastLine(Buffer.from(output))).toBe(shown);
  });

  test('leaves out a character whose last byte has not been written yet', () => {
    expect(findLastLine(Buffer.from('ok 界').subarray(0, -1))).toBe('ok');
  });

  test('of one endless line is its end, capped, begun at a whole character', async () => {
    await using writer = await SegmentWriter.create(1 << 20);
    await writer.write(Buffer.from('界'.repeat(20_000)));
    expect(await readLastLine(writer.folder, 1 << 20)).toBe(`${'界'.repeat(199)}…`);
  });
});

async function readToEnd(folder: string, bytesMax: number, segmentBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let from = 0;
  for (;;) {
    const { isDrained, total } = await readTotals(folder, segmentBytes);
    const { next, bytes } = await readBytes(folder, { from, bytesMax }, segmentBytes);
    pieces.push(bytes);
    from = next;
    if (isDrained && from === total) return Buffer.concat(pieces);
  }
}

/** Reads as a slow follower does: what was dropped meanwhile is skipped on purpose, by the refusal's word. */
async function followTail(folder: string, segmentBytes: number) {
  const pieces: { from: number; next: number; bytes: Buffer }[] = [];
  let from = 0;
  for (;;) {
    const { isDrained, total, dropped } = await readTotals(folder, segmentBytes);
    try {
      const piece = await readBytes(folder, { from, bytesMax: 16 }, segmentBytes);
      pieces.push(piece);
      from = piece.next;
    } catch (error) {
      if (findFailureCode(error) !== 'bad_request') throw error;
      from = dropped.find(([start, end]) => from >= start && from < end)?.[1] ?? from;
    }
    if (isDrained && from === total) return pieces;
  }
}
