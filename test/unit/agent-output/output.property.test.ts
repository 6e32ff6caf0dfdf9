import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findFailureCode } from '../../../contract/failures.ts';
import { readBytes } from '../../../agent/output/read-bytes.ts';
import { readTotals } from '../../../agent/output/read-totals.ts';
import type { OutputTotals } from '../../../agent/output/read-totals.ts';
import { readView } from '../../../agent/output/read-view.ts';
import { SegmentWriter } from './segment-writer.ts';

const output = fc.record({
  segmentBytes: fc.integer({ min: 1, max: 9 }),
  chunks: fc.array(fc.uint8Array({ maxLength: 13 }), { maxLength: 12 }),
});

/** Fails with seed and counterexample in the message, so that a red run can be repeated. */
async function check<Values extends [unknown, ...unknown[]]>(property: fc.IAsyncProperty<Values>): Promise<void> {
  await fc.assert(property, { numRuns: 60 });
}

async function writeAll(writer: SegmentWriter, chunks: readonly Uint8Array[]): Promise<Buffer> {
  for (const chunk of chunks) await writer.write(chunk);
  return Buffer.concat(chunks);
}

function isKept({ dropped }: OutputTotals, offset: number): boolean {
  return !dropped.some(([from, to]) => offset >= from && offset < to);
}

describe('an output of any bytes in any chunks', () => {
  test('is counted to the byte, and what is dropped lies between the head and the last two segments', async () => {
    await check(
      fc.asyncProperty(output, async ({ segmentBytes, chunks }) => {
        await using writer = await SegmentWriter.create(segmentBytes);
        const whole = await writeAll(writer, chunks);
        const { total, dropped } = await readTotals(writer.folder, segmentBytes);
        expect(total).toBe(whole.length);
        const lastIndex = Math.floor(whole.length / segmentBytes);
        expect(dropped).toEqual(lastIndex > 2 ? [[segmentBytes, (lastIndex - 1) * segmentBytes]] : []);
      }),
    );
  });

  test('is read by offset with no byte repeated, skipped or invented, whatever the size of a read', async () => {
    await check(
      fc.asyncProperty(output, fc.integer({ min: 1, max: 40 }), async ({ segmentBytes, chunks }, bytesMax) => {
        await using writer = await SegmentWriter.create(segmentBytes);
        const whole = await writeAll(writer, chunks);
        const totals = await readTotals(writer.folder, segmentBytes);
        for (let from = 0; from < whole.length; from++) {
          const gap = totals.dropped.find(([start]) => start > from)?.[0] ?? whole.length;
          const to = Math.min(from + bytesMax, gap);
          const kept = { from, next: to, bytes: whole.subarray(from, to) };
          const seen = await readBytes(writer.folder, { from, bytesMax }, segmentBytes).catch(findFailureCode);
          expect(seen).toEqual(isKept(totals, from) ? kept : 'bad_request');
        }
      }),
    );
  });

  test('is shown by head, tail and an exact count of what was omitted between them', async () => {
    const size = fc.integer({ min: 0, max: 30 });
    await check(
      fc.asyncProperty(output, size, size, async ({ segmentBytes, chunks }, headBytes, tailBytes) => {
        await using writer = await SegmentWriter.create(segmentBytes);
        const whole = await writeAll(writer, chunks);
        const view = await readView(writer.folder, { headBytes, tailBytes }, segmentBytes);
        const { head, tail, omitted, total, dropped } = view;
        expect(total).toBe(whole.length);
        expect(head.length + omitted + tail.length).toBe(total);
        expect(head).toEqual(whole.subarray(0, head.length));
        expect(tail).toEqual(whole.subarray(whole.length - tail.length));
        expect(head.length).toBe(Math.min(headBytes, dropped[0]?.[0] ?? total));
        expect(tail.length).toBe(Math.min(tailBytes, total - Math.max(head.length, dropped[0]?.[1] ?? 0)));
      }),
    );
  });
});
