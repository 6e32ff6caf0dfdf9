import { borderAfter, borderBefore } from '../../presentation/character-border.ts';

const MARK = '\n[… left out …]\n';
export const CUT_BYTES_MIN = 64;
/** How something ended is said at its end. */
const HEAD_SHARE = 1 / 3;

/** The text with its middle left out, in at most `bytesMax` bytes of UTF-8 (at least `CUT_BYTES_MIN`); no character is torn. */
export function cutMiddle(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  const room = Math.max(bytesMax, CUT_BYTES_MIN) - Buffer.byteLength(MARK);
  const head = borderBefore(bytes, Math.floor(room * HEAD_SHARE));
  const tail = borderAfter(bytes, bytes.length - (room - head));
  return `${bytes.toString('utf8', 0, head)}${MARK}${bytes.toString('utf8', tail)}`;
}

/** The beginning of a text, in at most `bytesMax` bytes of UTF-8. */
export function cutEnd(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= bytesMax ? text : bytes.toString('utf8', 0, borderBefore(bytes, bytesMax));
}
