/**
 * The invariants of one key after a death, against run log, process table and journal:
 *   1. at most one run for ever (K1), and none while the key is void, absent, fenced or doubtful;
 *   2. exited: exactly one run, with the true code and the whole output;
 *   3. a daemon's death alone loses no result; a lost key's output is a beginning of the true one;
 *   4. what is fenced never runs (K6); another nonce or another input is told nothing (K4);
 *   5. the same question gets the same answer.
 */
import { findFailureCode } from '../../contract/failures.ts';
import type { Nonce } from '../../contract/ids.ts';
import { ask, awaitDecision, probe, start } from './ask.ts';
import type { Word } from './ask.ts';
import type { Lane } from './lane.ts';
import type { MatrixKey } from './matrix-key.ts';

/** One line of the table: who died where, what was on disk, what recovery said, the runs, what is left of the result. */
export interface Observation {
  readonly who: string;
  readonly where: string;
  readonly onDisk: string;
  readonly said: string;
  readonly runs: number;
  readonly kept: string;
  readonly isUnknown: boolean;
}

export interface Verdict {
  readonly observation: Observation;
  readonly violations: readonly string[];
}

const START_WAIT_MS = 10_000;
const SIGPIPE_CODE = 128 + 13;
const SIGKILL_CODE = 128 + 9;
/** More than any command of the matrix writes. */
const VIEW_BYTES = 65_536;

export async function verifyKey(
  lane: Lane,
  key: MatrixKey,
  options: { readonly isFencing: boolean },
): Promise<Verdict> {
  const check = new KeyCheck(lane, key);
  const first = await probe(lane, key);
  const decided = await awaitDecision(lane, key);
  const runs = lane.countRuns(key);
  const kept = await check.decided(decided, options.isFencing);
  const isAdopted = first.state === 'running' || first.state === 'pending';
  const said = isAdopted ? `adopted, then ${decided.state}` : decided.state;
  const isUnknown = decided.state === 'lost' || key.settled?.state === 'journal_doubtful';
  const { who, where, onDisk } = key;
  return { observation: { who, where, onDisk, said, runs, kept, isUnknown }, violations: check.violations };
}

/** After everything, and after one more restart: the same as ever, and still no second run. */
export async function verifyForEver(lane: Lane, key: MatrixKey): Promise<readonly string[]> {
  const check = new KeyCheck(lane, key);
  await check.neverAgain();
  if (key.isReaderKilled && key.settled?.state === 'exited') await check.checkOutput();
  return check.violations;
}

class KeyCheck {
  readonly violations: string[] = [];
  readonly #lane: Lane;
  readonly #key: MatrixKey;

  constructor(lane: Lane, key: MatrixKey) {
    this.#lane = lane;
    this.#key = key;
  }

  async decided(word: Word, isFencing: boolean): Promise<string> {
    const runs = this.#runs();
    this.#expect(runs <= 1, `ran ${runs} times`);
    switch (word.state) {
      case 'void':
      case 'absent':
        this.#expect(runs === 0, `is called ${word.state} and ran ${runs} times`);
        this.#expect(!this.#key.isFencePromised, `is ${word.state} although its fence was durable`);
        if (word.state === 'void') await this.#strangersAreRefused();
        return isFencing ? this.#fence() : this.#startAgain();
      case 'fenced':
        this.#expect(this.#key.isCanceled, 'is fenced, and nobody asked for that');
        this.#expect(runs === 0, `is fenced and ran ${runs} times`);
        this.#settle(word);
        await this.neverAgain();
        return 'nothing ran, fenced for good';
      case 'exited':
        await this.#exited(word);
        return this.#exitedWords(word);
      case 'lost':
        this.#expect(!this.#key.isDaemonOnly, 'is lost, and only the daemon had died');
        await this.#strangersAreRefused();
        await this.checkOutput();
        this.#settle(word);
        await this.neverAgain();
        return 'unknown; the output so far';
      default:
        this.violations.push(this.#say(`answers ${word.state}, which no death of the matrix explains`));
        return '?';
    }
  }

  /** Starts the key once more and compares with what it was. */
  async neverAgain(): Promise<void> {
    const { settled } = this.#key;
    if (settled === undefined) return;
    const before = await start(this.#lane, this.#key, { waitMs: START_WAIT_MS });
    const after = await start(this.#lane, this.#key, { waitMs: START_WAIT_MS });
    const expected = settled.state === 'fenced' || settled.state === 'journal_doubtful' ? 'canceled' : settled.state;
    this.#expect(before.state === expected, `was ${settled.state} and now answers ${before.state}`);
    this.#expect(before.code === settled.code, `ended with ${settled.code} and now says ${before.code}`);
    this.#expect(JSON.stringify(before) === JSON.stringify(after), 'answers a repeated start in another way');
    this.#expect(this.#runs() === settled.runs, `had ${settled.runs} runs and now has ${this.#runs()}`);
  }

  /** What is there is a beginning of the true output, and all of it unless the answer says otherwise. */
  async checkOutput(): Promise<void> {
    const key = this.#key;
    const view = { headBytes: VIEW_BYTES, tailBytes: VIEW_BYTES };
    const asking = this.#lane.client.output({ ...key.addressed(), waitMs: 0, view });
    const answer = await asking.catch((error: unknown) => findFailureCode(error) ?? Promise.reject(error));
    if (typeof answer === 'string') {
      this.violations.push(this.#say(`answers ${answer} when it is asked for its output`));
      return;
    }
    const text = Buffer.from((answer.view?.head ?? '') + (answer.view?.tail ?? ''), 'base64').toString();
    this.#expect(key.output.startsWith(text), `has an output that its command never wrote (${text.length} bytes)`);
    const isSaidOpen = answer.outputOpen || answer.outputIncomplete || answer.state !== 'exited' || key.isCanceled;
    this.#expect(
      text === key.output || isSaidOpen || key.isChildKilled,
      `misses output (${text.length} bytes), unsaid`,
    );
  }

  async #fence(): Promise<string> {
    this.#key.isCanceled = true;
    const word = await ask(() => this.#lane.client.cancel({ ...this.#key.addressed(), mode: 'fence' }));
    this.#expect(word.state === 'fenced', `answers ${word.state} to a fence`);
    this.#settle({ state: 'fenced' });
    await this.neverAgain();
    return 'nothing ran, fenced for good';
  }

  async #startAgain(): Promise<string> {
    const word = await start(this.#lane, this.#key, { waitMs: START_WAIT_MS });
    if (word.state === 'journal_doubtful') {
      this.#settle(word);
      await this.neverAgain();
      return 'unknown; nothing ran or will';
    }
    await this.#exited(await awaitDecision(this.#lane, this.#key));
    return 'nothing ran; ran once when asked again';
  }

  async #exited(word: Word): Promise<void> {
    const key = this.#key;
    const runs = this.#runs();
    const isKilledAsAsked = key.isCanceled && word.killedBy === 'cancel';
    const isTrueCode =
      word.code === key.code ||
      isKilledAsAsked ||
      (key.isReaderKilled && word.code === SIGPIPE_CODE) ||
      (key.isChildKilled && word.code === SIGKILL_CODE);
    this.#expect(word.state === 'exited', `answers ${word.state} where its exit was due`);
    this.#expect(isTrueCode, `ended with ${word.code} (${word.killedBy ?? 'by itself'}) instead of ${key.code}`);
    this.#expect(runs === 1 || (runs === 0 && key.isChildKilled), `has an exit and ran ${runs} times`);
    await this.#strangersAreRefused();
    // A dead reader makes every answer wait half a minute after the exit: looked at in the end.
    if (!key.isReaderKilled) await this.checkOutput();
    this.#settle(word);
    await this.neverAgain();
  }

  #exitedWords(word: Word): string {
    if (word.killedBy === 'cancel') return 'killed, as asked; the output so far';
    if (this.#key.isChildKilled) return 'the exit of a process killed before its exec';
    if (this.#key.isReaderKilled) return "the exit; the output up to its reader's death";
    return 'yes';
  }

  /** Another nonce, and another input of the same nonce: nothing is told, started, killed or fenced (K4). */
  async #strangersAreRefused(): Promise<void> {
    const { client } = this.#lane;
    const stranger = { ...this.#key.addressed(), nonce: 'nonce-of-somebody-else' as Nonce };
    const words = [
      await ask(() => client.probe(stranger)),
      await ask(() => client.cancel({ ...stranger, mode: 'fence' })),
      await start(this.#lane, this.#key, { ...stranger, waitMs: START_WAIT_MS }),
      await start(this.#lane, this.#key, { command: 'true', waitMs: START_WAIT_MS }),
    ];
    const told = words.map(({ state }) => state).filter((state) => state !== 'input_mismatch');
    this.#expect(told.length === 0, `tells a stranger ${told.join(', ')}`);
  }

  #settle(word: Word): void {
    this.#key.settled = { state: word.state, code: word.code, runs: this.#runs() };
  }

  #runs(): number {
    return this.#lane.countRuns(this.#key);
  }

  #expect(isTrue: boolean, violation: string): void {
    if (!isTrue) this.violations.push(this.#say(violation));
  }

  #say(violation: string): string {
    const { key, who, where, onDisk } = this.#key;
    return `${key} (${who} died at ${where}; ${onDisk}) ${violation}`;
  }
}
