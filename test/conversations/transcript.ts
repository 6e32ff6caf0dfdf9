/** What a watcher of the chat has seen: every event, once and in order. */
import type { ChatId } from '../../contract/ids.ts';
import type { Store } from '../../store/store.ts';
import type { StreamEvent } from '../../store/stream-events.ts';

const EVENTS_AT_ONCE = 500;

export interface SeenMessage {
  readonly id: number;
  readonly role: 'user' | 'assistant' | 'summary';
  readonly turn: number;
  readonly text: string;
  readonly clientMessageId?: string;
  readonly calls: number;
}

export class Transcript {
  readonly events: StreamEvent[] = [];
  /** Everything that was ever said. */
  readonly messages: SeenMessage[] = [];
  /** Ids that are still shown. */
  readonly shown = new Set<number>();
  /** By turn, how often and how it ended. */
  readonly ends = new Map<number, string[]>();
  readonly #store: Store;
  readonly #chatId: ChatId;
  #cursor = 0;

  constructor(store: Store, chatId: ChatId) {
    this.#store = store;
    this.#chatId = chatId;
  }

  async look(): Promise<void> {
    for (;;) {
      const page = await this.#store.readEvents({ chatId: this.#chatId, after: this.#cursor, limit: EVENTS_AT_ONCE });
      for (const event of page) this.#take(event);
      this.#cursor = page.at(-1)?.seq ?? this.#cursor;
      if (page.length < EVENTS_AT_ONCE) return;
    }
  }

  /** The turn that answers this message, as soon as it was taken. */
  turnOf(clientMessageId: string): number | undefined {
    return this.messages.find((message) => message.clientMessageId === clientMessageId)?.turn;
  }

  #take(event: StreamEvent): void {
    this.events.push(event);
    if (event.type === 'message') {
      const { id, role, turn, text } = event;
      const calls = role === 'assistant' ? event.calls.length : 0;
      const named = role === 'user' ? { clientMessageId: event.clientMessageId } : {};
      this.messages.push({ id, role, turn, text, calls, ...named });
      this.shown.add(id);
    }
    if (event.type === 'hidden') for (const id of this.shown) if (id >= event.fromId) this.shown.delete(id);
    if (event.type === 'turn' && event.state !== 'active') {
      this.ends.set(event.turn, [...(this.ends.get(event.turn) ?? []), event.state]);
    }
  }
}
