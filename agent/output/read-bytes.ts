import { Refusal } from '../../contract/failures.ts';
import { listSegments, outranByWriter, SEGMENT_BYTES } from './segments.ts';
import type { SegmentListing } from './segments.ts';
import { readRange } from './read-range.ts';

export interface BytesRequest {
  /** Absolute offset. */
  readonly from: number;
  readonly bytesMax: number;
}

export interface OutputBytes {
  readonly from: number;
  /** Where to go on: `from` plus the length of `bytes`. */
  readonly next: number;
  /** Empty at or beyond the end of what was written so far. Ends at a dropped range. */
  readonly bytes: Buffer;
}

/** The first listing may be stale by the time its file is opened; the second one then shows the range as dropped. */
const TRIES_MAX = 20;

/**
 * Bytes from an absolute offset on, across segments. An offset whose bytes are not kept any more is refused with the
 * range named (C08): a reader that was moved on in silence would take what follows for what it asked.
 */
export async function readBytes(
  folder: string,
  { from, bytesMax }: BytesRequest,
  segmentBytes = SEGMENT_BYTES,
): Promise<OutputBytes> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const listing = await listSegments(folder, segmentBytes);
    refuseDropped(listing, from);
    const bytes = await readRange(listing, from, from + bytesMax);
    if (bytes.length > 0 || bytesMax === 0 || from >= listing.total) return { from, next: from + bytes.length, bytes };
  }
  throw outranByWriter();
}

function refuseDropped({ dropped }: SegmentListing, from: number): void {
  const range = dropped.find(([start, end]) => from >= start && from < end);
  if (range === undefined) return;
  throw new Refusal(
    'bad_request',
    `from is ${from}, but the output's bytes ${range[0]} to ${range[1]} are not kept any more; read on from ${range[1]}`,
    'from',
  );
}
