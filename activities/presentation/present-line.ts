/**
 * One line of output as the model reads it: the last frame of a line that redraws itself, cut when it is very long.
 *
 * Every byte is accounted for: shown + omitted + redrawn = the line's bytes, its line feed included.
 */
import { PRESENTED_LINE_BYTES_MAX } from '../../contract/limits.ts';
import { borderAfter, borderBefore } from './character-border.ts';

const CARRIAGE_RETURN = 0x0d;

export interface PresentedLine {
  readonly text: string;
  /** Cut away, with a count in the text or, at an open edge, in the count of the gap beside it. */
  readonly omittedBytes: number;
  /** Frames that later ones replaced on a terminal. */
  readonly redrawnBytes: number;
}

/** `begin`, `end`: the gap between head and tail cuts through this line there. */
export type OpenEdge = 'begin' | 'end' | undefined;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** `line` without its line feed; `isTerminated` when it has one. */
export function presentLine(line: Uint8Array, isTerminated: boolean, open: OpenEdge): PresentedLine {
  const feed = isTerminated ? '\n' : '';
  let bodyEnd = line.length;
  while (bodyEnd > 0 && line[bodyEnd - 1] === CARRIAGE_RETURN) bodyEnd--;
  const returns = line.length - bodyEnd;
  // "\r\n" ends a line and is kept; other returns at its end only move the cursor.
  const keptReturn = isTerminated && returns > 0 ? 1 : 0;
  const frame = lastFrame(line.subarray(0, bodyEnd), open === 'end' && returns === 0);
  const cut = cutLine(frame.bytes, open);
  return {
    text: cut.text + (keptReturn === 1 ? '\r' : '') + feed,
    omittedBytes: cut.omittedBytes + frame.unfinishedBytes,
    redrawnBytes: bodyEnd - frame.bytes.length - frame.unfinishedBytes + returns - keptReturn,
  };
}

/** What a terminal shows in the end. A frame that the gap cuts off never got its whole text: the one before it is shown. */
function lastFrame(body: Uint8Array, isCutOff: boolean): { bytes: Uint8Array; unfinishedBytes: number } {
  const last = body.lastIndexOf(CARRIAGE_RETURN);
  if (last === -1) return { bytes: body, unfinishedBytes: 0 };
  if (!isCutOff) return { bytes: body.subarray(last + 1), unfinishedBytes: 0 };
  let end = last;
  while (end > 0 && body[end - 1] === CARRIAGE_RETURN) end--;
  const whole = body.subarray(0, end);
  return { bytes: whole.subarray(whole.lastIndexOf(CARRIAGE_RETURN) + 1), unfinishedBytes: body.length - end };
}

function cutLine(bytes: Uint8Array, open: OpenEdge): { text: string; omittedBytes: number } {
  if (bytes.length <= PRESENTED_LINE_BYTES_MAX) return { text: decode(bytes), omittedBytes: 0 };
  if (open === 'end') {
    const end = borderBefore(bytes, PRESENTED_LINE_BYTES_MAX);
    return { text: decode(bytes.subarray(0, end)), omittedBytes: bytes.length - end };
  }
  if (open === 'begin') {
    const begin = borderAfter(bytes, bytes.length - PRESENTED_LINE_BYTES_MAX);
    return { text: decode(bytes.subarray(begin)), omittedBytes: begin };
  }
  const end = borderBefore(bytes, PRESENTED_LINE_BYTES_MAX / 2);
  const begin = borderAfter(bytes, bytes.length - PRESENTED_LINE_BYTES_MAX / 2);
  const marker = `[… ${begin - end} bytes of this line omitted …]`;
  return {
    text: decode(bytes.subarray(0, end)) + marker + decode(bytes.subarray(begin)),
    omittedBytes: begin - end,
  };
}

/** Invalid bytes as U+FFFD, NUL as the two characters `\0`: some stores and providers refuse the real one. */
function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes).replaceAll('\0', '\\0');
}
