/** The message box. What was typed and not sent stays with its chat while the tab is open. */
import { requireElement, setText } from './elements.ts';

const LINES_MAX_SHOWN = 12;

export class Composer {
  readonly #form = requireElement('composer', HTMLFormElement);
  readonly #area = requireElement('message', HTMLTextAreaElement);
  readonly #note = requireElement('message-note', HTMLElement);
  readonly #send = requireElement('send', HTMLButtonElement);
  readonly #sendNow = requireElement('send-now', HTMLButtonElement);
  #chatId: string | undefined;

  constructor(onSend: (text: string, mode: 'queue' | 'interrupt') => void) {
    const send = (mode: 'queue' | 'interrupt'): void => {
      const text = this.#area.value;
      if (text.trim() === '' || this.#send.disabled) return;
      this.put('');
      onSend(text, mode);
      this.focus();
    };
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      send('queue');
    });
    this.#sendNow.addEventListener('click', () => send('interrupt'));
    this.#area.addEventListener('input', () => this.#keep());
    this.#area.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      send(event.ctrlKey || event.metaKey ? 'interrupt' : 'queue');
    });
  }

  open(chatId: string): void {
    this.#chatId = chatId;
    this.#form.hidden = false;
    this.#area.value = sessionStorage.getItem(this.#draftName) ?? '';
    this.#fit();
  }

  close(): void {
    this.#form.hidden = true;
  }

  focus(): void {
    this.#area.focus();
  }

  put(text: string): void {
    this.#area.value = text;
    this.#keep();
  }

  show({ isRunning, isArchived }: { readonly isRunning: boolean; readonly isArchived: boolean }): void {
    this.#area.disabled = isArchived;
    this.#send.disabled = isArchived;
    this.#sendNow.hidden = !isRunning;
    setText(this.#send, isRunning ? 'Queue' : 'Send');
    const running = 'Enter queues it, Ctrl+Enter stops the turn and sends it, Shift+Enter begins a line, Esc stops';
    const note = isRunning ? running : 'Enter sends, Shift+Enter begins a line';
    setText(this.#note, isArchived ? 'This chat is archived. Reopen it to go on.' : note);
  }

  get #draftName(): string {
    return `latchkey.draft.${this.#chatId ?? ''}`;
  }

  #keep(): void {
    if (this.#area.value === '') sessionStorage.removeItem(this.#draftName);
    else sessionStorage.setItem(this.#draftName, this.#area.value);
    this.#fit();
  }

  #fit(): void {
    this.#area.rows = Math.min(LINES_MAX_SHOWN, this.#area.value.split('\n').length);
  }
}
