/** A command of this agent that has not been settled yet: launched by us, or adopted at start-up. */
import type { AttemptRow } from '../journal/call-rows.ts';
import type { KillCause } from '../journal/call-rows.ts';
import type { StartedRecord } from '../keeper/keeper-files.ts';
import type { KillTreeResult } from '../process/kill-tree.ts';
import type { SentSignal } from './killed-by.ts';

type Phase = { readonly name: 'launching' } | { readonly name: 'running'; readonly started: StartedRecord };

export class LiveCommand {
  readonly attempt: AttemptRow;
  readonly folder: string;
  /** Signals of this daemon that reached the command; they tell a killed command from one that just ended. */
  readonly sent: SentSignal[] = [];
  /** What an earlier daemon had set out to do to it. */
  readonly inheritedIntent: KillCause | null;
  /** The kill under way, and when its grace is over (monotonic clock). */
  killing: { readonly killAtMs: number; readonly result: Promise<KillTreeResult> } | undefined;
  #phase: Phase = { name: 'launching' };
  readonly #launched = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();

  constructor(attempt: AttemptRow, folder: string, inheritedIntent: KillCause | null) {
    this.attempt = attempt;
    this.folder = folder;
    this.inheritedIntent = inheritedIntent;
  }

  /** Resolves when the command runs, or when there is nothing left to wait for. */
  get launched(): Promise<void> {
    return this.#launched.promise;
  }

  /** Resolves when the end is durable in the journal. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** The record of the process that became the command; undefined until it is known. */
  get started(): StartedRecord | undefined {
    return this.#phase.name === 'running' ? this.#phase.started : undefined;
  }

  markRunning(started: StartedRecord): void {
    this.#phase = { name: 'running', started };
    this.#launched.resolve();
  }

  markEnded(): void {
    this.#launched.resolve();
    this.#ended.resolve();
  }
}
