/**
 * The line editor: node:readline reads keys, keeps history and cursor; we draw, because what streams above must not
 * tear what is being typed. A trailing backslash, or a paste of several lines, makes a message of several lines.
 */
import { createInterface } from 'node:readline';
import type { Interface, Key } from 'node:readline';
import { Writable } from 'node:stream';
import type { TypedText } from './input-rows.ts';

const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';
const HISTORY_LINES_MAX = 500;

export interface LineInputOptions {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  /** Newest first. */
  readonly history: readonly string[];
  readonly complete: (line: string) => string[];
  readonly onChange: (typed: TypedText) => void;
  readonly onMessage: (text: string) => void;
  readonly onInterrupt: () => void;
  /** Ctrl-D on an empty line, or the terminal is gone. */
  readonly onClose: () => void;
}

export class LineInput {
  readonly #options: LineInputOptions;
  readonly #readline: Interface;
  readonly #onKey = (_text: string | undefined, key: Key): void => this.#key(key);
  #lines: string[] = [];
  #isPasting = false;

  constructor(options: LineInputOptions) {
    this.#options = options;
    const { input, output, history, complete } = options;
    this.#readline = createInterface({
      input,
      // What readline itself would draw goes nowhere.
      output: new Writable({ write: (_chunk, _encoding, done) => done() }),
      terminal: true,
      history: [...history],
      historySize: HISTORY_LINES_MAX,
      removeHistoryDuplicates: true,
      completer: (line: string) => [complete(line), line],
    });
    input.on('keypress', this.#onKey);
    this.#readline
      .on('line', (line) => this.#take(line))
      .on('SIGINT', () => options.onInterrupt())
      .on('SIGCONT', () => this.#tell())
      .on('close', () => options.onClose());
    output.write(PASTE_ON);
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0 && this.#readline.line === '';
  }

  /** Puts a text there to be edited. */
  fill(text: string): void {
    this.clear();
    const lines = text.split('\n');
    this.#lines = lines.slice(0, -1);
    this.#readline.write(lines.at(-1) ?? '');
    this.#tell();
  }

  clear(): void {
    this.#lines = [];
    this.#readline.write(null, { ctrl: true, name: 'e' });
    this.#readline.write(null, { ctrl: true, name: 'u' });
    this.#tell();
  }

  close(): void {
    this.#options.input.off('keypress', this.#onKey);
    this.#options.output.write(PASTE_OFF);
    this.#readline.close();
  }

  #key({ name }: Key): void {
    if (name === 'paste-start') this.#isPasting = true;
    if (name === 'paste-end') this.#isPasting = false;
    // Readline takes the key after us, or has taken it: either way it is there in the next round.
    setImmediate(() => this.#tell());
  }

  #take(line: string): void {
    if (this.#isPasting || line.endsWith('\\')) {
      this.#lines.push(this.#isPasting ? line : line.slice(0, -1));
      return this.#tell();
    }
    const text = [...this.#lines, line].join('\n');
    this.#lines = [];
    this.#tell();
    this.#options.onMessage(text);
  }

  #tell(): void {
    const { line, cursor } = this.#readline;
    this.#options.onChange({ lines: [...this.#lines, line], cursor });
  }
}
