/** One of our programs as a process of its own: started, heard, signalled by pid. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { waitUntil } from '../fixtures/wait-until.ts';

/** A worker loads the SDK's native part, which takes seconds on a busy machine. */
const READY_MS_MAX = 90_000;
const END_MS_MAX = 30_000;
/** Of what it said last; a stack is longer than what says why. */
const LOG_CHARACTERS_MAX = 3000;

export interface PieceRequest {
  readonly name: string;
  readonly program: string;
  readonly words?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A folder. */
  readonly cache: string;
}

export class Piece {
  readonly name: string;
  readonly #child: ChildProcess;
  #log = '';
  #isReady = false;

  private constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text: Buffer) => this.#hear(text.toString()));
    }
  }

  /** Detached, so that Ctrl-C reaches the sweep alone, which then cleans up. */
  static spawn({ name, program, words = [], env, cache }: PieceRequest): Piece {
    const main = join(import.meta.dirname, '../..', program);
    const child = spawn(process.execPath, [main, ...words], {
      // What one has compiled the next one reads, which is most of the time that it takes to come back.
      env: { NODE_COMPILE_CACHE: cache, ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    return new Piece(name, child);
  }

  /** False when it ended before it was ready. */
  async becomesReady(): Promise<boolean> {
    await waitUntil(`the ${this.name} is ready`, () => this.#isReady || this.hasEnded, {
      deadlineMs: READY_MS_MAX,
      describe: () => this.log,
    });
    return !this.hasEnded;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** How it ended. */
  get end(): string {
    return this.#child.signalCode ?? `exit ${this.#child.exitCode}`;
  }

  get log(): string {
    return `${this.name} (pid ${this.pid}, ${this.hasEnded ? this.end : 'alive'}):\n${this.#log}`;
  }

  onEnd(listener: () => void): void {
    this.#child.once('exit', listener);
  }

  #hear(text: string): void {
    this.#log = (this.#log + text).slice(-LOG_CHARACTERS_MAX);
    this.#isReady ||= /\bready\b/.test(this.#log);
  }

  /** False when it had ended by itself. */
  signal(signal: NodeJS.Signals): boolean {
    return !this.hasEnded && this.#child.kill(signal);
  }

  async ended(): Promise<void> {
    await waitUntil(`the ${this.name} has ended`, () => this.hasEnded, {
      deadlineMs: END_MS_MAX,
      describe: () => this.log,
    });
  }
}
