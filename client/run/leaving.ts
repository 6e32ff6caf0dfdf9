/** Ctrl-C, a hang-up, a reader that has gone: the watcher leaves, the turn goes on (A1). A second Ctrl-C is at once. */
const INTERRUPTED = 130;

export class Leaving implements Disposable {
  readonly exitCode = INTERRUPTED;
  readonly #controller = new AbortController();
  readonly #leave = (): void => {
    if (this.#controller.signal.aborted) process.exit(INTERRUPTED);
    this.#controller.abort(new Error('left'));
  };
  readonly #leaveQuietly = (): void => this.#controller.abort(new Error('left'));

  constructor() {
    process.on('SIGINT', this.#leave).on('SIGTERM', this.#leave).on('SIGHUP', this.#leave);
    // `latchkey run … | head`: nobody reads any more.
    process.stdout.on('error', this.#leaveQuietly);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    process.off('SIGINT', this.#leave).off('SIGTERM', this.#leave).off('SIGHUP', this.#leave);
  }
}
