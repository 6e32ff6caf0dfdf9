import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, listSegments, SEGMENT_BYTES } from './segments.ts';
import type { ByteRange, SegmentListing } from './segments.ts';

export interface OutputTotals {
  /** All bytes that were ever written, kept or dropped. */
  readonly total: number;
  /** Absolute ranges that are not kept any more, `[from, to)`. */
  readonly dropped: readonly ByteRange[];
  /** The reader met the end of the output: `total` is final. */
  readonly isDrained: boolean;
  /** The reader failed (a full disk): what was written after that is gone, and uncounted. */
  readonly isIncomplete: boolean;
}

/** How much there is, without reading any of it. Throws ENOENT when the folder itself is gone. */
export async function readTotals(folder: string, segmentBytes = SEGMENT_BYTES): Promise<OutputTotals> {
  return toTotals(await readListingWithMarks(folder, segmentBytes));
}

export interface MarkedListing extends SegmentListing {
  readonly isDrained: boolean;
  readonly isIncomplete: boolean;
}

/** The marks are read before the files: a mark that is there says something about all bytes that are counted after. */
export async function readListingWithMarks(folder: string, segmentBytes: number): Promise<MarkedListing> {
  const isDrained = await exists(join(folder, 'drained'));
  const isIncomplete = await exists(join(folder, 'output-lost'));
  return { ...(await listSegments(folder, segmentBytes)), isDrained, isIncomplete };
}

export function toTotals({ total, dropped, isDrained, isIncomplete }: MarkedListing): OutputTotals {
  return { total, dropped, isDrained, isIncomplete };
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
