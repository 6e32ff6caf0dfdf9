/**
 * Wakes the watchers of chats. Hints come from the database (`sqlite/`, `postgres/`) and may be lost without harm: a
 * look at all watched chats, several times a second, finds what no hint told of (I12). A look costs one query for all
 * watchers together, of one row a watched chat, whatever the chats hold (H02).
 *
 * Owns: its timer and the subscription to hints, both only while somebody watches.
 */
import type { ChatId } from '../contract/ids.ts';
import type { Database } from './database.ts';

/** Tells of commits that were made by anybody, this process too. Without a chat: something has changed. */
export type HintSource = (onHint: (chatId?: ChatId) => void) => Disposable;

/** Well under the second that a watcher may be late. */
const LOOK_EVERY_MS = 400;

export interface ChatWatch extends Disposable {
  /** Resolves when the chat may have changed since the last `next`, at once the first time, or when `signal` aborts. */
  next(signal: AbortSignal): Promise<void>;
}

export class ChatChanges {
  readonly #db: Database;
  readonly #hints: HintSource | undefined;
  readonly #watched = new Map<ChatId, { seq: number | undefined; readonly bells: Set<Bell> }>();
  #subscription: Disposable | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isLookWanted = false;

  constructor(db: Database, hints?: HintSource) {
    this.#db = db;
    this.#hints = hints;
  }

  watch(chatId: ChatId): ChatWatch {
    const watched = this.#watched.get(chatId) ?? { seq: undefined, bells: new Set() };
    const bell = new Bell();
    watched.bells.add(bell);
    this.#watched.set(chatId, watched);
    this.#begin();
    return {
      next: (signal) => bell.heard(signal),
      [Symbol.dispose]: () => {
        watched.bells.delete(bell);
        if (watched.bells.size === 0) this.#watched.delete(chatId);
        if (this.#watched.size === 0) this.close();
      },
    };
  }

  /** Wakes everybody: whoever still follows finds the store closed. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#subscription?.[Symbol.dispose]();
    this.#subscription = undefined;
    for (const chatId of this.#watched.keys()) this.#wake(chatId);
  }

  #begin(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#wantLook(), LOOK_EVERY_MS);
    this.#subscription = this.#hints?.((chatId) => {
      if (chatId === undefined) this.#wantLook();
      else this.#wake(chatId);
    });
  }

  /** One look at a time; what is wanted during one is done after it. */
  #wantLook(): void {
    this.#isLookWanted = true;
    if (!this.#isLooking) void this.#lookWhileWanted();
  }

  async #lookWhileWanted(): Promise<void> {
    this.#isLooking = true;
    while (this.#isLookWanted && this.#watched.size > 0) {
      this.#isLookWanted = false;
      try {
        const rows = await this.#db
          .selectFrom('chats')
          .select(['id', 'last_event_seq'])
          .where('id', 'in', [...this.#watched.keys()])
          .execute();
        for (const { id, last_event_seq: seq } of rows) this.#noteSeq(id as ChatId, seq);
      } catch {
        // Each watcher asks the store itself, and gets the failure with its reason.
        for (const chatId of this.#watched.keys()) this.#wake(chatId);
      }
    }
    this.#isLooking = false;
  }

  #noteSeq(chatId: ChatId, seq: number): void {
    const watched = this.#watched.get(chatId);
    if (watched === undefined || watched.seq === seq) return;
    watched.seq = seq;
    this.#wake(chatId);
  }

  #wake(chatId: ChatId): void {
    for (const bell of this.#watched.get(chatId)?.bells ?? []) bell.ring();
  }
}

/** One listener's: a ring that comes while nobody listens is heard at the next listening. */
class Bell {
  #hasRung = true;
  #resolve: (() => void) | undefined;

  ring(): void {
    this.#hasRung = true;
    this.#resolve?.();
  }

  async heard(signal: AbortSignal): Promise<void> {
    if (!this.#hasRung && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      const leave = (): void => resolve();
      signal.addEventListener('abort', leave);
      await promise;
      signal.removeEventListener('abort', leave);
      this.#resolve = undefined;
    }
    this.#hasRung = false;
  }
}
