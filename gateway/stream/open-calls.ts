/** Keeps, for one watcher, the tails of the calls that are open as far as this watcher has been told. */
import type { ChatId, ExecutionKey } from '../../contract/ids.ts';
import type { ChatFrame } from '../open-store.ts';
import type { LiveTails, Tail } from './live-tails.ts';

interface KnownCall {
  readonly key: ExecutionKey;
  readonly turn: number;
  readonly result?: object;
}

export class OpenCalls implements Disposable {
  readonly #tails: LiveTails;
  readonly #chatId: ChatId;
  readonly #tell: (tail: Tail) => void;
  readonly #open = new Map<ExecutionKey, number>();
  #watch: { readonly turn: number; readonly end: Disposable } | undefined;

  constructor(tails: LiveTails, chatId: ChatId, tell: (tail: Tail) => void) {
    this.#tails = tails;
    this.#chatId = chatId;
    this.#tell = tell;
  }

  /** Called with each frame, after it was sent: a tail never comes before its call, nor after its result. */
  note(frame: ChatFrame): void {
    if (frame.type === 'status' && 'snapshot' in frame) this.#open.clear();
    if (frame.type === 'message' && frame.role === 'assistant') frame.calls.forEach((call) => this.#noteCall(call));
    if (frame.type === 'call') this.#noteCall(frame.call);
    if (frame.type === 'turn' && frame.state !== 'active') this.#open.clear();
    this.#follow();
  }

  /** For a watcher that goes on from a cursor: of the calls that it knows to be open no frame will tell it again. */
  resume(calls: readonly KnownCall[]): void {
    calls.forEach((call) => this.#noteCall(call));
    this.#follow();
  }

  [Symbol.dispose](): void {
    this.#open.clear();
    this.#follow();
  }

  #noteCall(call: KnownCall): void {
    if (call.result === undefined) this.#open.set(call.key, call.turn);
    else this.#open.delete(call.key);
  }

  #follow(): void {
    const turn = [...this.#open.values()].at(-1);
    if (this.#watch?.turn === turn) return;
    this.#watch?.end[Symbol.dispose]();
    this.#watch = undefined;
    if (turn === undefined) return;
    const end = this.#tails.watch(this.#chatId, turn, (tail) => {
      if (this.#open.has(tail.key as ExecutionKey)) this.#tell(tail);
    });
    this.#watch = { turn, end };
  }
}
