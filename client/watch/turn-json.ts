/** A turn for machines: one JSON object a line on standard output. Fields may be added; the meaning of one stays. */
import type { ChatId } from '../../contract/ids.ts';
import type { StreamEvent } from '../open-store.ts';
import type { PendingActivity } from './pending-activities.ts';
import type { Output } from './screen.ts';
import type { TurnAudience } from './watch-turn.ts';

export class TurnJson implements TurnAudience {
  readonly #out: Output;
  readonly #chatId: ChatId;
  readonly #told = new Map<string, string>();

  constructor(out: Output, chatId: ChatId) {
    this.#out = out;
    this.#chatId = chatId;
  }

  write(line: object): void {
    this.#out.write(`${JSON.stringify(line)}\n`);
  }

  event(event: StreamEvent): void {
    const { type, ...rest } = event;
    this.write({ type, chatId: this.#chatId, ...rest });
  }

  pending(activities: readonly PendingActivity[]): void {
    for (const { type, state, attempt, heartbeat, isOfEarlierAttempt } of activities) {
      if (type !== 'execute' || heartbeat === undefined || isOfEarlierAttempt) continue;
      const { key, phase, handle, bytes, lastLine, unreachableSince } = heartbeat;
      const progress = { type: 'progress', chatId: this.#chatId, key, state, attempt, phase };
      const line = { ...progress, handle, bytes, lastLine, unreachableSince };
      const text = JSON.stringify(line);
      if (this.#told.get(key) === text) continue;
      this.#told.set(key, text);
      this.write({ ...line, at: new Date().toISOString() });
    }
  }

  notice(text: string): void {
    this.write({ type: 'notice', chatId: this.#chatId, text });
  }
}
