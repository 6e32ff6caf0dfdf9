/** Somebody who watches a chat: what is shown is at any moment a beginning of the one text that the model writes (I09). */
import type { ChatId } from '../../contract/ids.ts';
import type { Store } from '../../store/store.ts';
import type { StreamEvent } from '../../store/stream-events.ts';
import type { TurnPlan } from './plans.ts';

const EVENTS_AT_ONCE = 500;

export class Watcher {
  /** What was shown that the model never wrote so. */
  readonly wrong: string[] = [];
  readonly #store: Store;
  readonly #chatId: ChatId;
  readonly #plans = new Map<number, TurnPlan>();
  readonly #shown = new Map<string, string>();
  #cursor = 0;

  constructor(store: Store, chatId: ChatId) {
    this.#store = store;
    this.#chatId = chatId;
  }

  follow(turn: number, plan: TurnPlan): void {
    this.#plans.set(turn, plan);
  }

  async look(): Promise<void> {
    const events = await this.#store.readEvents({ chatId: this.#chatId, after: this.#cursor, limit: EVENTS_AT_ONCE });
    for (const event of events) this.#take(event);
    this.#cursor = events.at(-1)?.seq ?? this.#cursor;
  }

  #take(event: StreamEvent): void {
    if (event.type === 'withdrawn') this.#shown.delete(`${event.turn}/${event.step}`);
    if (event.type !== 'part') return;
    const place = `${event.turn}/${event.step}`;
    const shown = (this.#shown.get(place) ?? '') + event.text;
    this.#shown.set(place, shown);
    const written = this.#plans.get(event.turn)?.steps[event.step - 1]?.text ?? '';
    if (!written.startsWith(shown)) this.wrong.push(`turn ${event.turn}, step ${event.step}: ${JSON.stringify(shown)}`);
  }
}
