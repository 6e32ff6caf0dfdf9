import { open } from 'node:fs/promises';
import { isMissing } from './segments.ts';
import type { Segment, SegmentListing } from './segments.ts';

/**
 * The bytes of `[from, to)` as far as they are kept without a gap from `from` on. Shorter than asked when a segment has
 * vanished since the listing: the caller lists again. Holds no more than `to - from` bytes.
 */
export async function readRange(listing: SegmentListing, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(to, listing.total) - from));
  let offset = from;
  for (const segment of listing.segments) {
    const end = Math.min(segment.to, from + buffer.length);
    if (segment.to <= offset || end <= offset) continue;
    if (segment.from > offset) break;
    const length = end - offset;
    const count = await readSegment(segment, offset - segment.from, buffer.subarray(offset - from, end - from));
    offset += count;
    if (count < length) break;
  }
  return buffer.subarray(0, offset - from);
}

/** Fills `into` from `position` on; gives how many bytes there were. An opened file stays readable when it is deleted. */
async function readSegment(segment: Segment, position: number, into: Buffer): Promise<number> {
  let file;
  try {
    file = await open(segment.path, 'r');
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
  try {
    let count = 0;
    while (count < into.length) {
      const { bytesRead } = await file.read(into, count, into.length - count, position + count);
      if (bytesRead === 0) break;
      count += bytesRead;
    }
    return count;
  } finally {
    await file.close();
  }
}
