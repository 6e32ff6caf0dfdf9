/** A chat for people: a printer for each turn, and a line at its end. */
import type { StreamEvent } from '../open-store.ts';
import { summarizeTurn } from '../run/show-turn.ts';
import { keepDrawing, openPrinter } from '../watch/open-printer.ts';
import type { PrinterOptions } from '../watch/open-printer.ts';
import type { PendingActivity } from '../watch/pending-activities.ts';
import type { TurnPrinter } from '../watch/turn-printer.ts';
import type { TurnEnding } from '../watch/watch-turn.ts';
import type { ChatAudience } from './chat-teller.ts';

export class ChatPrinter implements ChatAudience, Disposable {
  readonly #options: PrinterOptions;
  readonly #drawing: Disposable;
  #printer: TurnPrinter;

  constructor(options: PrinterOptions) {
    this.#options = options;
    this.#printer = this.#newPrinter();
    this.#drawing = keepDrawing(options.screen, () => this.#printer.draw());
  }

  async event(event: StreamEvent): Promise<void> {
    const { screen } = this.#options;
    // A turn's open calls and half-written text are none of the next one's.
    if (event.type === 'turn' && event.state === 'active') this.#printer = this.#newPrinter();
    if (event.type === 'status' && event.state === 'idle') this.#printer = this.#newPrinter();
    if (event.type === 'status' && event.error !== undefined && !Object.hasOwn(event, 'seq'))
      this.#showError(event.error);
    if (event.type === 'hidden') screen.line(screen.style('dim', '↩ edited: what follows stands in the place of it'));
    await this.#printer.event(event);
  }

  pending(activities: readonly PendingActivity[]): void {
    this.#printer.pending(activities);
  }

  notice(text: string): void {
    this.#printer.notice(text);
  }

  async turnEnded(turn: number, ending: TurnEnding): Promise<void> {
    const { chatId, store, screen } = this.#options;
    this.#printer.end();
    screen.line(await summarizeTurn(store, { chatId, turn }, ending, { screen }));
  }

  [Symbol.dispose](): void {
    this.#drawing[Symbol.dispose]();
    this.#printer.end();
  }

  #showError({ code, message }: { readonly code: string; readonly message: string }): void {
    this.#printer.notice(`the last turn failed: ${code}: ${message}`);
  }

  #newPrinter(): TurnPrinter {
    const { screen } = this.#options;
    screen.endText();
    screen.block([]);
    return openPrinter(this.#options);
  }
}
