/**
 * The output's files on disk. The reader writes exactly SEGMENT_BYTES to `segment.N`, then goes on with `segment.N+1`;
 * it keeps `segment.0` and, when it starts N, deletes `segment.N-2`. So any file but the last may vanish at any moment.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '../../contract/failures.ts';

/** Large enough that a tail is at least this long after a rotation, small enough that a command holds 24 MiB at most. */
export const SEGMENT_BYTES = 8 * 1024 * 1024;

/** Bytes from `from` up to but not including `to`, by absolute offset. */
export type ByteRange = readonly [from: number, to: number];

/** One kept file and where its bytes belong. */
export interface Segment {
  readonly path: string;
  readonly from: number;
  /** From where it ended when it was listed; the last one grows. */
  readonly to: number;
}

/** What was on disk at one moment. */
export interface SegmentListing {
  readonly segments: readonly Segment[];
  /** All bytes that were ever written, kept or dropped. */
  readonly total: number;
  /** What is not kept any more, in order. */
  readonly dropped: readonly ByteRange[];
}

const SEGMENT_NAME = /^segment\.(0|[1-9]\d{0,8})$/;

/**
 * Tries at catching a listing whose last file still exists. Each failed one means that the reader wrote more than a
 * whole segment between two of our system calls.
 */
const LISTINGS_MAX = 20;

export async function listSegments(folder: string, segmentBytes = SEGMENT_BYTES): Promise<SegmentListing> {
  for (let attempt = 0; attempt < LISTINGS_MAX; attempt++) {
    const segments = await readListing(folder, segmentBytes);
    if (segments !== undefined) return toListing(segments);
  }
  throw outranByWriter();
}

/** The refusal for a reader that was never fast enough; the same question may succeed a moment later. */
export function outranByWriter(): CodedError {
  return new CodedError('too_busy', 'the output is written faster than it could be read; ask again in a moment');
}

/** A segment that vanished between the listing and the look is a dropped one; unless it was the last: look again. */
async function readListing(folder: string, segmentBytes: number): Promise<Segment[] | undefined> {
  const indexes = (await readdir(folder))
    .map((name) => SEGMENT_NAME.exec(name)?.[1])
    .filter((index) => index !== undefined)
    .map(Number)
    .toSorted((left, right) => left - right);
  const segments: Segment[] = [];
  for (const index of indexes) {
    const path = join(folder, `segment.${index}`);
    const size = await findSize(path);
    const from = index * segmentBytes;
    if (size !== undefined) segments.push({ path, from, to: from + size });
    else if (index === indexes.at(-1)) return undefined;
  }
  return segments;
}

async function findSize(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function toListing(segments: readonly Segment[]): SegmentListing {
  const dropped: ByteRange[] = [];
  let total = 0;
  for (const segment of segments) {
    if (segment.from > total) dropped.push([total, segment.from]);
    total = segment.to;
  }
  return { segments, total, dropped };
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
