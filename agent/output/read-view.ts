import { outranByWriter, SEGMENT_BYTES } from './segments.ts';
import { readRange } from './read-range.ts';
import { readListingWithMarks, toTotals } from './read-totals.ts';
import type { MarkedListing, OutputTotals } from './read-totals.ts';

export interface ViewRequest {
  readonly headBytes: number;
  readonly tailBytes: number;
}

/** The two ends of an output, of one moment together with its totals: head + omitted + tail = total. */
export interface OutputView extends OutputTotals {
  readonly head: Buffer;
  /** Never overlaps `head`: up to headBytes + tailBytes everything is in the two. */
  readonly tail: Buffer;
  readonly omitted: number;
}

const TRIES_MAX = 20;

export async function readView(
  folder: string,
  request: ViewRequest,
  segmentBytes = SEGMENT_BYTES,
): Promise<OutputView> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const listing = await readListingWithMarks(folder, segmentBytes);
    const { headTo, tailFrom } = chooseEnds(listing, request);
    const head = await readRange(listing, 0, headTo);
    const tail = await readRange(listing, tailFrom, listing.total);
    // Shorter means that a segment was rotated away under our hands; the next listing knows.
    if (head.length !== headTo || tail.length !== listing.total - tailFrom) continue;
    return { ...toTotals(listing), head, tail, omitted: tailFrom - headTo };
  }
  throw outranByWriter();
}

/** Where head ends and tail begins: as asked, but neither reaches over a dropped range. */
function chooseEnds({ total, dropped }: MarkedListing, { headBytes, tailBytes }: ViewRequest) {
  const headTo = Math.min(headBytes, dropped[0]?.[0] ?? total);
  const tailFrom = Math.max(headTo, total - tailBytes, dropped.at(-1)?.[1] ?? 0);
  return { headTo, tailFrom };
}
