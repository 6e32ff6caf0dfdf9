/**
 * Where a watcher writes: what the model says on standard output, all else on standard error. On a terminal a block of
 * live lines is kept below; it is only drawn while no line of text is half written.
 */
import { styleText } from 'node:util';
import { OUR_STYLES, plainLine, plainStyled, plainText } from './plain-text.ts';

export type Style = 'dim' | 'green' | 'red' | 'yellow' | 'bold';

export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export class Screen {
  readonly isLive: boolean;
  readonly #out: Output;
  readonly #err: Output;
  #isAtLineStart = true;
  #drawn = 0;

  constructor(out: Output, err: Output) {
    this.#out = out;
    this.#err = err;
    this.isLive = err.isTTY === true;
  }

  /** The model's words, as they come. */
  text(text: string): void {
    if (text === '') return;
    this.#erase();
    this.#out.write(plainText(text));
    this.#isAtLineStart = text.endsWith('\n');
  }

  endText(): void {
    if (!this.#isAtLineStart) this.text('\n');
  }

  line(line: string): void {
    this.endText();
    this.#erase();
    this.#err.write(`${plainStyled(line)}\n`);
  }

  /** Replaces the live lines; nothing where there is no terminal. */
  block(lines: readonly string[]): void {
    if (!this.isLive || !this.#isAtLineStart) return;
    this.#erase();
    const columns = this.#err.columns ?? 80;
    for (const line of lines) this.#err.write(`${cutToWidth(line, columns - 1)}\n`);
    this.#drawn = lines.length;
  }

  style(style: Style, text: string): string {
    // Colour is for people at a terminal; NO_COLOR is asked by styleText itself.
    return this.isLive ? styleText(style, text, { stream: process.stderr }) : text;
  }

  #erase(): void {
    // To the line's start first: a terminal echoes ^C where the cursor stands.
    if (this.#drawn > 0) this.#err.write(`\r\u001b[${this.#drawn}A\u001b[J`);
    this.#drawn = 0;
  }
}

/** All that a printer needs of a screen. */
export type PrintedOn = Pick<Screen, 'isLive' | 'text' | 'endText' | 'line' | 'block' | 'style'>;

/** Cut to the width of the terminal; wide characters count twice, and so may some narrow ones: too short is harmless. */
export function cutToWidth(line: string, columns: number): string {
  let width = 0;
  let fitted = '';
  // Escape sequences of our own styles take no room.
  for (const [index, part] of line.split(OUR_STYLES).entries()) {
    if (index % 2 === 1) {
      fitted += part;
      continue;
    }
    for (const character of plainLine(part)) {
      width += widthOf(character);
      if (width <= columns) fitted += character;
    }
  }
  return fitted;
}

/** Columns of one character: too wide is harmless where rows are cut by it. */
export function widthOf(character: string): 1 | 2 {
  return (character.codePointAt(0) ?? 0) < 0x1100 || /[\u2000-\u2bff]/.test(character) ? 1 : 2;
}
