/** How many streams are open, of each token and in all. */
import { CodedError } from '../../contract/failures.ts';
import { STREAMS_MAX, STREAMS_PER_TOKEN_MAX } from '../limits.ts';

export class StreamPlaces {
  readonly #perTokenMax: number;
  readonly #byToken = new Map<string, number>();
  #all = 0;

  constructor(perTokenMax = STREAMS_PER_TOKEN_MAX) {
    this.#perTokenMax = perTokenMax;
  }

  /** Throws `too_busy` when there is none; the place is given back once. */
  take(token: string): Disposable {
    const mine = this.#byToken.get(token) ?? 0;
    if (mine >= this.#perTokenMax || this.#all >= STREAMS_MAX) {
      throw new CodedError('too_busy', `${mine} streams of "${token}" are open, ${this.#all} in all: close some`);
    }
    this.#set(token, mine + 1);
    this.#all += 1;
    let isTaken = true;
    return {
      [Symbol.dispose]: () => {
        if (!isTaken) return;
        isTaken = false;
        this.#set(token, (this.#byToken.get(token) ?? 1) - 1);
        this.#all -= 1;
      },
    };
  }

  #set(token: string, count: number): void {
    if (count === 0) this.#byToken.delete(token);
    else this.#byToken.set(token, count);
  }
}
