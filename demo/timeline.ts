/** What happens, as it happens: one line an event, with the seconds since the beginning. */
export class Timeline {
  readonly #began = performance.now();
  readonly #isQuiet: boolean;

  constructor(options: { readonly isQuiet: boolean }) {
    this.#isQuiet = options.isQuiet;
  }

  /** With --json the one line for machines goes to standard output, everything for people to standard error. */
  say(text: string): void {
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(1).padStart(6);
    this.print(`${seconds} s  ${text}`);
  }

  print(text: string): void {
    (this.#isQuiet ? process.stderr : process.stdout).write(`${text}\n`);
  }
}
