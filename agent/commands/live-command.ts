/** A command of this agent that has not been settled yet: launched by us, or adopted at start-up. */
import type { AttemptRow } from '../journal/call-rows.ts';
import type { StartedRecord } from '../keeper/keeper-files.ts';

type Phase = { readonly name: 'launching' } | { readonly name: 'running'; readonly started: StartedRecord };

export class LiveCommand {
  readonly attempt: AttemptRow;
  readonly folder: string;
  /** Boot clock when a signal of ours last reached the tree; tells a killed command from one that just ended. */
  signalledBootMs: number | undefined;
  #phase: Phase = { name: 'launching' };
  readonly #launched = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();

  constructor(attempt: AttemptRow, folder: string) {
    this.attempt = attempt;
    this.folder = folder;
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
