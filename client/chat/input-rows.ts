/** How a message that is being typed is laid out on the rows of a terminal. Pure. */
import { widthOf } from '../watch/screen.ts';

export interface TypedText {
  /** The lines before are finished; the cursor is in the last one. */
  readonly lines: readonly string[];
  /** In code units of the last line. */
  readonly cursor: number;
}

export interface InputRows {
  readonly rows: readonly string[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

const FIRST = '> ';
const OTHER = '. ';

/** Rows are one column shorter than the terminal: a full one would leave the cursor between two rows. */
export function layOutInput({ lines, cursor }: TypedText, columns: number): InputRows {
  const width = Math.max(columns - 1, FIRST.length + 2);
  const rows: string[] = [];
  let place = { row: 0, column: FIRST.length };
  for (const [index, line] of lines.entries()) {
    let row = index === 0 ? FIRST : OTHER;
    let used = row.length;
    let units = 0;
    const isLast = index === lines.length - 1;
    for (const character of line) {
      const wide = widthOf(character);
      if (used + wide > width) {
        rows.push(row);
        row = '';
        used = 0;
      }
      if (isLast && units === cursor) place = { row: rows.length, column: used };
      // A control character would move our cursor.
      row += /\p{Cc}/u.test(character) ? ' ' : character;
      used += wide;
      units += character.length;
    }
    if (isLast && units <= cursor) place = { row: rows.length, column: used };
    rows.push(row);
  }
  return { rows, cursorRow: place.row, cursorColumn: place.column };
}
