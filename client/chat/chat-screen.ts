/**
 * The screen of a conversation: what is finished scrolls up as plain text; below it, drawn anew at each change, the line
 * that the model is writing, the live lines of running calls, and the message that is being typed.
 *
 * 1. Only what is in the drawn part is ever erased, so a terminal's own scrolling, searching and copying work.
 * 2. The drawn part is never higher than the terminal: what can't be reached by moving up can't be erased.
 */
import { styleText } from 'node:util';
import { plainLine, plainStyled, plainText } from '../watch/plain-text.ts';
import { cutToWidth, widthOf } from '../watch/screen.ts';
import type { Output, PrintedOn, Style } from '../watch/screen.ts';
import { layOutInput } from './input-rows.ts';
import type { TypedText } from './input-rows.ts';

/** Some changes come together, such as an event's text and its line. */
const DRAW_AFTER_MS = 15;
const ROWS_WITHOUT_TERMINAL = 24;
const COLUMNS_WITHOUT_TERMINAL = 80;

export class ChatScreen implements PrintedOn {
  readonly isLive = true;
  readonly #out: Output & { readonly rows?: number };
  #finished = '';
  #unfinished = '';
  #block: readonly string[] = [];
  #hint: string | undefined;
  #typed: TypedText | undefined = { lines: [''], cursor: 0 };
  #cursorRow = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(out: Output & { readonly rows?: number }) {
    this.#out = out;
  }

  text(text: string): void {
    const all = this.#unfinished + plainText(text);
    const end = all.lastIndexOf('\n') + 1;
    this.#finished += all.slice(0, end);
    this.#unfinished = all.slice(end);
    this.#change();
  }

  endText(): void {
    if (this.#unfinished !== '') this.text('\n');
  }

  line(line: string): void {
    this.endText();
    this.#finished += `${plainStyled(line)}\n`;
    this.#change();
  }

  block(lines: readonly string[]): void {
    if (lines.length === 0 && this.#block.length === 0) return;
    this.#block = lines;
    this.#change();
  }

  /** One line above what is typed; undefined takes it away. */
  hint(hint: string | undefined): void {
    if (hint === this.#hint) return;
    this.#hint = hint;
    this.#change();
  }

  typed(typed: TypedText): void {
    this.#typed = typed;
    this.#change();
  }

  style(style: Style, text: string): string {
    return styleText(style, text, { stream: process.stdout });
  }

  /** Draws what is finished, and nothing below it. */
  close(): void {
    this.endText();
    this.#block = [];
    this.#hint = undefined;
    this.#typed = undefined;
    clearTimeout(this.#timer);
    this.#draw();
    this.#isClosed = true;
  }

  #change(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => this.#draw(), DRAW_AFTER_MS);
  }

  #draw(): void {
    this.#timer = undefined;
    const { rows, cursorRow, cursorColumn } = this.#layOut();
    const up = this.#cursorRow > 0 ? `\u001b[${this.#cursorRow}A` : '';
    const back = rows.length - 1 - cursorRow;
    const place = `${back > 0 ? `\u001b[${back}A` : ''}\r${cursorColumn > 0 ? `\u001b[${cursorColumn}C` : ''}`;
    this.#out.write(`\r${up}\u001b[J${this.#finished}${rows.join('\n')}${rows.length > 0 ? place : ''}`);
    this.#finished = '';
    this.#cursorRow = Math.max(cursorRow, 0);
  }

  #layOut(): { rows: readonly string[]; cursorRow: number; cursorColumn: number } {
    const columns = this.#out.columns || COLUMNS_WITHOUT_TERMINAL;
    const height = (this.#out.rows || ROWS_WITHOUT_TERMINAL) - 1;
    if (this.#typed === undefined) return { rows: [], cursorRow: 0, cursorColumn: 0 };
    const input = layOutInput(this.#typed, columns);
    // The cursor is in the last line: what doesn't fit is left out at the beginning.
    const left = Math.max(input.rows.length - Math.max(height - 2, 1), 0);
    const typed = input.rows.slice(left);
    const hint = this.#hint === undefined ? [] : [this.style('dim', this.#hint)];
    const room = height - typed.length - hint.length;
    const block = this.#block.slice(0, Math.max(room, 0));
    const text = wrap(this.#unfinished, columns - 1).slice(-Math.max(room - block.length, 0) || Infinity);
    const above = [
      ...(room > block.length ? text : []),
      ...[...block, ...hint].map((line) => cutToWidth(line, columns - 1)),
    ];
    return {
      rows: [...above, ...typed],
      cursorRow: above.length + Math.max(input.cursorRow - left, 0),
      cursorColumn: input.cursorColumn,
    };
  }
}

/** The line that is being written, on as many rows as it needs; none when it is empty. */
function wrap(line: string, width: number): string[] {
  if (line === '') return [];
  const rows = [''];
  let used = 0;
  for (const character of plainLine(line)) {
    const wide = widthOf(character);
    if (used + wide > width) {
      rows.push('');
      used = 0;
    }
    rows[rows.length - 1] += character;
    used += wide;
  }
  return rows;
}
