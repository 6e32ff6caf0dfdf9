/** Puts a conversation into the document: each thing has one element for as long as it is shown. */
import { CallCard } from './call-card.ts';
import type { CallActions } from './call-card.ts';
import type { Conversation, ShownMessage, ShownNote } from './conversation.ts';
import { arrange, make, makeButton, setText } from './elements.ts';

export interface ConversationActions extends CallActions {
  /** Resolves when the edit was taken; fails with what to tell. */
  edit(message: ShownMessage, text: string): Promise<void>;
  /** What was edited goes away with what had the focus. */
  endEdit(): void;
  /** A turn in the Temporal UI, where that is known. */
  linkToTurn(turn: number): string | undefined;
}

interface Drawn {
  readonly element: HTMLElement;
  readonly message: ShownMessage;
  readonly cards: readonly { readonly key: string; readonly card: CallCard }[];
}

const NAMES = { user: 'You', assistant: 'Model', summary: 'Summary' };

export class ConversationView {
  readonly #parent: HTMLElement;
  readonly #actions: ConversationActions;
  #drawn = new Map<number, Drawn>();
  #notes = new WeakMap<ShownNote, HTMLElement>();
  readonly #writing = make('article', { class: 'message assistant writing', 'aria-label': 'Model, writing' });
  readonly #writingText = make('div', { class: 'text' });
  readonly #notice = make('p', { class: 'remark' });

  constructor(parent: HTMLElement, actions: ConversationActions) {
    this.#parent = parent;
    this.#actions = actions;
    this.#writing.append(make('header', {}, NAMES.assistant), this.#writingText);
  }

  render(conversation: Conversation, nowMs: number): void {
    const elements: HTMLElement[] = [];
    const drawn = new Map<number, Drawn>();
    this.#pushNotes(elements, conversation.notes.get(0));
    for (const message of conversation.messages) {
      const known = this.#drawn.get(message.id);
      const one = known?.message === message ? known : this.#draw(message);
      drawn.set(message.id, one);
      elements.push(one.element);
      for (const { key, card } of one.cards) {
        const call = conversation.calls.get(key);
        const link = this.#actions.linkToTurn(message.turn);
        if (call !== undefined) card.update(call, conversation.tails.get(key), link, nowMs);
      }
      this.#pushNotes(elements, conversation.notes.get(message.id));
    }
    this.#drawn = drawn;
    if (conversation.writing !== undefined) {
      this.#appendText(conversation.writing.text);
      elements.push(this.#writing);
    }
    if (conversation.notice !== undefined) {
      setText(this.#notice, conversation.notice);
      elements.push(this.#notice);
    }
    arrange(this.#parent, elements);
  }

  /** Ages go on. */
  tick(nowMs: number): void {
    for (const { cards } of this.#drawn.values()) for (const { card } of cards) card.tick(nowMs);
  }

  /** The gateway is there again. */
  reconnect(): void {
    for (const { cards } of this.#drawn.values()) for (const { card } of cards) card.reconnect();
  }

  clear(): void {
    this.#drawn.clear();
    this.#parent.replaceChildren();
  }

  #draw(message: ShownMessage): Drawn {
    const { role, text, callKeys } = message;
    const name = role === 'summary' ? summaryName(message) : NAMES[role];
    const element = make('article', { class: `message ${role}`, 'aria-label': name });
    const header = make('header', {}, make('span', {}, name));
    const body = make('div', { class: 'text' }, ...formatText(text));
    if (role === 'user') {
      const edit = makeButton('Edit', { class: 'quiet' }, () => this.#beginEdit(message, { element, body, edit }));
      header.append(edit);
    }
    element.append(header);
    if (text !== '') element.append(body);
    const cards = callKeys.map((key) => ({ key, card: new CallCard(this.#actions) }));
    if (cards.length > 0) {
      element.append(make('ul', { class: 'calls', 'aria-label': 'Calls' }, ...cards.map(({ card }) => card.element)));
    }
    return { element, message, cards };
  }

  #beginEdit(
    message: ShownMessage,
    { element, body, edit }: { element: HTMLElement; body: HTMLElement; edit: HTMLButtonElement },
  ): void {
    const area = make('textarea', { 'aria-label': 'The message, edited', rows: '3' });
    area.value = message.text;
    const why = make('p', { class: 'note' }, 'It and all that follows is hidden, and the new text is answered.');
    const save = make('button', {}, 'Save and answer');
    const end = (): void => {
      form.replaceWith(body);
      edit.hidden = false;
      edit.focus();
    };
    const actions = make('div', { class: 'actions' }, makeButton('Cancel', { class: 'quiet' }, end), save);
    const form = make('form', { class: 'edit' }, area, why, actions);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (area.value.trim() === '') return;
      save.disabled = true;
      this.#actions
        .edit(message, area.value)
        .then(end)
        .then(this.#actions.endEdit, (error: unknown) => {
          save.disabled = false;
          setText(why, error instanceof Error ? error.message : String(error));
          why.setAttribute('role', 'alert');
        });
    });
    form.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        event.stopPropagation();
        end();
      } else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && event.target === area) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    edit.hidden = true;
    body.replaceWith(form);
    if (!form.isConnected) element.append(form);
    area.focus();
  }

  #pushNotes(elements: HTMLElement[], notes: readonly ShownNote[] = []): void {
    for (const note of notes) {
      let element = this.#notes.get(note);
      if (element === undefined) {
        element = make('p', { class: 'remark' }, note.text);
        this.#notes.set(note, element);
      }
      elements.push(element);
    }
  }

  /** Only what is new, so that a long answer costs what comes, and not what is there. */
  #appendText(text: string): void {
    const node = this.#writingText.firstChild;
    if (node instanceof Text && text.startsWith(node.data)) node.appendData(text.slice(node.length));
    else this.#writingText.replaceChildren(text);
  }
}

function summaryName({ messageCount }: ShownMessage): string {
  const of = messageCount === undefined ? 'older messages' : `${messageCount} older messages`;
  return `Summary of ${of}, for the model; all of them are still here`;
}

/** Fenced code as such, all else as it stands. */
function formatText(text: string): (Node | string)[] {
  return text.split(/^```[^\n`]*\n([\s\S]*?)\n```$\n?/m).map((piece, index) => {
    return index % 2 === 0 ? piece : make('pre', {}, make('code', {}, piece));
  });
}
