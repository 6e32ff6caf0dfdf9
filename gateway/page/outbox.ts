/**
 * Messages on their way. Each has its client message id from the start and is kept in this tab's session storage until
 * the gateway has answered, so that a reload or a cut in mid-request sends it again, and it counts once.
 */
import { ApiError, sayFailure } from './api.ts';
import type { Api } from './api.ts';

const OUTBOX = 'latchkey.outbox';
const SEND_AGAIN_MS = 5000;

export interface Outgoing {
  readonly chatId: string;
  readonly clientMessageId: string;
  readonly text: string;
  readonly mode: 'queue' | 'interrupt';
  /** Refused: it is not sent again by itself. */
  readonly refusal?: string;
}

export class Outbox {
  readonly #api: Api;
  readonly #onChange: () => void;
  readonly #onTaken: (chatId: string) => void;
  #items: readonly Outgoing[];
  #isSending = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api, { onChange, onTaken }: { onChange(): void; onTaken(chatId: string): void }) {
    this.#api = api;
    this.#onChange = onChange;
    this.#onTaken = onTaken;
    this.#items = JSON.parse(sessionStorage.getItem(OUTBOX) ?? '[]') as Outgoing[];
  }

  of(chatId: string): readonly Outgoing[] {
    return this.#items.filter((item) => item.chatId === chatId);
  }

  add(item: Omit<Outgoing, 'clientMessageId' | 'refusal'>): void {
    this.#keep([...this.#items, { ...item, clientMessageId: makeId() }]);
    void this.send();
  }

  remove(clientMessageId: string): void {
    this.#keep(this.#items.filter((item) => item.clientMessageId !== clientMessageId));
  }

  /** One after the other, in their order; what gets no answer is sent again, at the latest after a while. */
  async send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    clearTimeout(this.#timer);
    try {
      for (;;) {
        const item = this.#items.find(({ refusal }) => refusal === undefined);
        if (item === undefined) return;
        if (await this.#sendOne(item)) continue;
        this.#timer = setTimeout(() => void this.send(), SEND_AGAIN_MS);
        return;
      }
    } finally {
      this.#isSending = false;
    }
  }

  async #sendOne(item: Outgoing): Promise<boolean> {
    const { chatId, clientMessageId, text, mode } = item;
    try {
      await this.#api.post(`/v1/chats/${encodeURIComponent(chatId)}/messages`, { clientMessageId, text, mode });
      this.remove(clientMessageId);
      this.#onTaken(chatId);
      return true;
    } catch (error) {
      // Nobody's word about whether it was taken: it stays as it is.
      if (!(error instanceof ApiError && error.isRefusal)) return false;
      const refusal = sayFailure(error);
      this.#keep(this.#items.map((each) => (each === item ? { ...each, refusal } : each)));
      return true;
    }
  }

  #keep(items: readonly Outgoing[]): void {
    this.#items = items;
    sessionStorage.setItem(OUTBOX, JSON.stringify(items));
    this.#onChange();
  }
}

/** `crypto.randomUUID` is there only on secure origins; a gateway behind a plain name is none. */
export function makeId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
