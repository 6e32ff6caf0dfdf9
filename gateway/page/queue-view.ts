/** What waits: in the chat's queue, or still on its way to it. */
import { arrange, make, makeButton, requireElement, setText } from './elements.ts';
import type { Outgoing } from './outbox.ts';
import type { Waiting } from './wire.ts';

export interface QueueActions {
  delete(clientMessageId: string): void;
  promote(clientMessageId: string): void;
  /** Takes what was refused back into the message box. */
  takeBack(outgoing: Outgoing): void;
}

interface Row {
  readonly element: HTMLLIElement;
  readonly promote: HTMLButtonElement;
}

export class QueueView {
  readonly #section = requireElement('queue', HTMLElement);
  readonly #list = requireElement('queue-list', HTMLOListElement);
  readonly #name = requireElement('queue-name', HTMLElement);
  readonly #actions: QueueActions;
  #rows = new Map<string, Row>();
  #outgoing = new WeakMap<Outgoing, HTMLLIElement>();

  constructor(actions: QueueActions) {
    this.#actions = actions;
  }

  render(queue: readonly Waiting[], outgoing: readonly Outgoing[]): void {
    const hadFocus = this.#list.contains(document.activeElement);
    const rows = new Map<string, Row>();
    for (const waiting of queue) {
      const row = this.#rows.get(waiting.clientMessageId) ?? this.#makeRow(waiting);
      row.promote.hidden = rows.size === 0;
      rows.set(waiting.clientMessageId, row);
    }
    this.#rows = rows;
    const sent = outgoing.map((each) => this.#rowOf(each));
    arrange(this.#list, [...[...rows.values()].map(({ element }) => element), ...sent]);
    setText(this.#name, queue.length === 0 ? 'On its way' : `Waiting (${queue.length})`);
    this.#section.hidden = this.#list.childElementCount === 0;
    // Who has just deleted a row by the keyboard goes on at the next one.
    if (hadFocus && !this.#list.contains(document.activeElement)) {
      const next = this.#list.querySelector<HTMLButtonElement>('button:not([hidden])');
      (next ?? requireElement('message', HTMLTextAreaElement)).focus();
    }
  }

  #makeRow({ clientMessageId, text }: Waiting): Row {
    const name = text.slice(0, 60);
    const promote = makeButton('Answer next', { class: 'quiet', 'aria-label': `Answer next: ${name}` }, () =>
      this.#actions.promote(clientMessageId),
    );
    const remove = makeButton('Delete', { class: 'quiet', 'aria-label': `Delete: ${name}` }, () =>
      this.#actions.delete(clientMessageId),
    );
    const element = make('li', {}, make('span', { class: 'text', title: text }, text), promote, remove);
    return { element, promote };
  }

  #rowOf(outgoing: Outgoing): HTMLLIElement {
    let element = this.#outgoing.get(outgoing);
    if (element === undefined) {
      const { text, refusal } = outgoing;
      const end =
        refusal === undefined
          ? [make('span', { class: 'note' }, 'being sent')]
          : [
              make('span', { class: 'why', role: 'alert' }, refusal),
              makeButton('Take back', { class: 'quiet' }, () => this.#actions.takeBack(outgoing)),
            ];
      element = make('li', {}, make('span', { class: 'text', title: text }, text), ...end);
      this.#outgoing.set(outgoing, element);
    }
    return element;
  }
}
