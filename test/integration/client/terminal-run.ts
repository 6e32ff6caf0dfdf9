/** The `latchkey` command line at a terminal of its own (`script` of util-linux): keys go in, what is drawn is read. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { onTestFinished } from 'vitest';
import { quoteWords } from '../../../client/quote-words.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

export const LATCHKEY = join(import.meta.dirname, '../../../client/latchkey.ts');
/** The machine may be busy with other tests: starting all pieces takes seconds when it isn't. */
export const PATIENCE_MS = 120_000;

export const CTRL_C = '\u0003';
export const CTRL_D = '\u0004';

export class TerminalRun {
  readonly #child: ChildProcess;
  #drawn = '';
  #seen = 0;

  constructor(words: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
    const command = `stty cols 120 rows 30; exec ${quoteWords([process.execPath, LATCHKEY, ...words])}`;
    this.#child = spawn('script', ['-qfec', command, '/dev/null'], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (bytes: Buffer) => (this.#drawn += bytes.toString()));
    }
    onTestFinished(() => void this.#child.kill('SIGKILL'));
  }

  press(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  enter(text: string): void {
    this.press(`${text}\r`);
  }

  /** Everything that was ever drawn, without colours and cursor moves. */
  get drawn(): string {
    return stripVTControlCharacters(this.#drawn).replaceAll('\r', '');
  }

  /** Waits for something to be drawn after what was seen last. */
  async sees(pattern: RegExp): Promise<RegExpExecArray> {
    const found = await waitUntil(`it has drawn ${pattern}`, () => this.#find(pattern), {
      deadlineMs: PATIENCE_MS,
      describe: () => this.#describe(),
    });
    this.#seen += found.index + found[0].length;
    return found;
  }

  /** The exit code. */
  async ended(): Promise<number | null> {
    await waitUntil('it has ended', () => this.#child.exitCode !== null || this.#child.signalCode !== null, {
      deadlineMs: PATIENCE_MS,
      describe: () => this.#describe(),
    });
    return this.#child.exitCode;
  }

  #find(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.drawn.slice(this.#seen));
    if (found === null && this.#child.exitCode !== null) throw new Error(`it ended first: ${this.#describe()}`);
    return found ?? undefined;
  }

  #describe(): string {
    return `seen before:\n${this.drawn.slice(0, this.#seen).slice(-3000)}\n-- since:\n${this.drawn.slice(this.#seen).slice(-6000)}`;
  }
}
