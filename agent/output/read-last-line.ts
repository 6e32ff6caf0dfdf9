import { LAST_LINE_CHARACTERS_MAX } from '../../contract/limits.ts';
import { toSafeText } from '../../contract/well-formed.ts';
import { readView } from './read-view.ts';
import { SEGMENT_BYTES } from './segments.ts';

/** Longer than any line that fits on a screen; people read only LAST_LINE_CHARACTERS_MAX of it. */
const LAST_LINE_BYTES = 4096;

/** Terminal sequences: CSI (`ESC [ 1 m`), strings such as a window title (`ESC ] … BEL`), short ones (`ESC c`). */
const TERMINAL_SEQUENCE =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]/g;

/** Controls, and marks that turn the direction of text: they would change what stands around the line. */
const INVISIBLE = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The last line with something to see, for people: a progress bar's last frame, repaired and capped. */
export async function readLastLine(folder: string, segmentBytes = SEGMENT_BYTES): Promise<string> {
  const { tail, total } = await readView(folder, { headBytes: 0, tailBytes: LAST_LINE_BYTES }, segmentBytes);
  return findLastLine(tail.length < total ? withoutCutCharacter(tail) : tail);
}

/** The same from the bytes of an output's end. A character that is still being written at the end is left out. */
export function findLastLine(bytes: Buffer): string {
  const text = new TextDecoder().decode(bytes, { stream: true });
  // A redraw begins with CR, so the frames of a progress bar are read like lines: the last one counts.
  for (const frame of text.split(/[\r\n]/).toReversed()) {
    const visible = frame.replace(TERMINAL_SEQUENCE, '').replaceAll('\t', ' ').replace(INVISIBLE, '').trim();
    if (visible !== '') return toSafeText(visible, LAST_LINE_CHARACTERS_MAX);
  }
  return '';
}

/** The cut may have gone through a character: at most three bytes that continue it. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
