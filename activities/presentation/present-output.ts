/** Bytes of output → the text that a model reads (C01, E14). Pure: the same bytes give the same text (E13). */
import type { PresentedOutput } from '../../contract/calls.ts';
import { PRESENTED_HEAD_BYTES, PRESENTED_TAIL_BYTES } from '../../contract/limits.ts';
import { borderAfter, borderBefore } from './character-border.ts';
import { presentLine } from './present-line.ts';
import type { OpenEdge } from './present-line.ts';

const LINE_FEED = 0x0a;

/**
 * The text as JSON may have so many bytes: two for each byte of output (a text of quotes or line ends), so ordinary
 * text is never cut by this. Binary grows up to sixfold; it is cut further.
 */
export const PRESENTED_ENCODED_BYTES_MAX = 2 * (PRESENTED_HEAD_BYTES + PRESENTED_TAIL_BYTES) + 2 * 1024;

/** As the agent's `view` gives it: `omittedBytes` lie between head and tail. */
export interface RawOutput {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly omittedBytes: number;
  readonly totalBytes: number;
  readonly outputOpen: boolean;
}

export function presentOutput(raw: RawOutput): PresentedOutput {
  let share = 1;
  for (;;) {
    const presented = presentEnds(cutToShare(raw, share));
    const encodedBytes = Buffer.byteLength(JSON.stringify(presented.text));
    if (encodedBytes <= PRESENTED_ENCODED_BYTES_MAX) {
      return { ...presented, totalBytes: raw.totalBytes, outputOpen: raw.outputOpen };
    }
    share *= Math.min(0.9, PRESENTED_ENCODED_BYTES_MAX / encodedBytes);
  }
}

interface Ends {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly omittedBytes: number;
}

/** The first and the last bytes, at character borders; everything is in `head` when it fits. */
function cutToShare(raw: RawOutput, share: number): Ends {
  const headMax = Math.floor(PRESENTED_HEAD_BYTES * share);
  const tailMax = Math.floor(PRESENTED_TAIL_BYTES * share);
  // Without a gap the agent's split may be inside a character, so the two are one text.
  const isWhole = raw.omittedBytes === 0;
  const whole = isWhole ? Buffer.concat([raw.head, raw.tail]) : undefined;
  if (whole !== undefined && whole.length <= headMax + tailMax) {
    return { head: whole, tail: new Uint8Array(0), omittedBytes: 0 };
  }
  const first = whole ?? raw.head;
  const last = whole ?? raw.tail;
  const headEnd = borderBefore(first, Math.min(headMax, first.length));
  const tailBegin = borderAfter(last, Math.max(0, last.length - tailMax));
  const head = first.subarray(0, headEnd);
  const tail = last.subarray(tailBegin);
  const keptBefore = isWhole ? first.length : first.length + last.length;
  return { head, tail, omittedBytes: raw.omittedBytes + keptBefore - head.length - tail.length };
}

function presentEnds({ head, tail, omittedBytes }: Ends): { text: string; omittedBytes: number } {
  const hasGap = omittedBytes > 0;
  const first = presentLines(head, hasGap ? 'end' : undefined);
  if (!hasGap) return { text: first.text, omittedBytes: first.omittedBytes };
  const last = presentLines(tail, 'begin');
  const gapBytes = omittedBytes + first.openOmittedBytes + last.openOmittedBytes;
  const border = first.text === '' || first.text.endsWith('\n') ? '' : '\n';
  return {
    text: `${first.text}${border}[… ${gapBytes} bytes omitted …]\n${last.text}`,
    omittedBytes: omittedBytes + first.omittedBytes + last.omittedBytes,
  };
}

/** `openOmittedBytes`: the part of `omittedBytes` that lies next to the gap and is told with it. */
function presentLines(bytes: Uint8Array, openEdge: OpenEdge) {
  let text = '';
  let omittedBytes = 0;
  let openOmittedBytes = 0;
  for (let begin = 0; begin < bytes.length;) {
    const feed = bytes.indexOf(LINE_FEED, begin);
    const end = feed === -1 ? bytes.length : feed;
    const touchesGap = openEdge === 'begin' ? begin === 0 : openEdge === 'end' && feed === -1;
    const line = presentLine(bytes.subarray(begin, end), feed !== -1, touchesGap ? openEdge : undefined);
    text += line.text;
    omittedBytes += line.omittedBytes;
    if (touchesGap) openOmittedBytes += line.omittedBytes;
    begin = end + 1;
  }
  return { text, omittedBytes, openOmittedBytes };
}
