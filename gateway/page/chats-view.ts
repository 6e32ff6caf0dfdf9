/** The list of chats: searched, loaded page by page, looked at again every few seconds while somebody sees it. */
import { sayFailure } from './api.ts';
import type { Api } from './api.ts';
import { arrange, make, requireElement, setText } from './elements.ts';
import { saySince } from './say.ts';
import type { ListedChat } from './wire.ts';

const PAGE_CHATS = 30;
const LOOK_AGAIN_MS = 5000;
const SEARCH_AFTER_MS = 250;

interface Row {
  readonly element: HTMLLIElement;
  readonly link: HTMLAnchorElement;
  readonly name: HTMLElement;
  readonly note: HTMLElement;
}

export class ChatsView {
  readonly #api: Api;
  readonly #onLoaded: () => void;
  readonly #list = requireElement('chat-list', HTMLUListElement);
  readonly #note = requireElement('chats-note', HTMLElement);
  readonly #more = requireElement('more-chats', HTMLButtonElement);
  readonly #search = requireElement('search', HTMLInputElement);
  readonly #withArchived = requireElement('with-archived', HTMLInputElement);
  readonly #rows = new Map<string, Row>();
  #chats: readonly ListedChat[] = [];
  #next: string | undefined;
  #current: string | undefined;
  /** Answers to a question that is no longer asked are dropped. */
  #question = 0;

  constructor(api: Api, onLoaded: () => void) {
    this.#api = api;
    this.#onLoaded = onLoaded;
    let timer: ReturnType<typeof setTimeout> | undefined;
    this.#search.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(() => void this.reload(), SEARCH_AFTER_MS);
    });
    this.#withArchived.addEventListener('change', () => void this.reload());
    this.#more.addEventListener('click', () => void this.#loadMore());
    setInterval(() => document.hidden || void this.refresh(), LOOK_AGAIN_MS);
  }

  /** Anew, as another question. */
  async reload(): Promise<void> {
    this.#question += 1;
    const page = await this.#load();
    if (page === undefined) return;
    this.#chats = page.chats;
    this.#next = page.next;
    this.#render();
  }

  /** The newest ones only; those that were loaded beyond them stay. */
  async refresh(): Promise<void> {
    const page = await this.#load();
    if (page === undefined) return;
    const newest = new Set(page.chats.map(({ chatId }) => chatId));
    const isWhole = page.next === undefined;
    this.#chats = [...page.chats, ...(isWhole ? [] : this.#chats.filter(({ chatId }) => !newest.has(chatId)))];
    if (isWhole || this.#chats.length === page.chats.length) this.#next = page.next;
    this.#render();
  }

  show(chatId: string | undefined): void {
    this.#current = chatId;
    this.#render();
  }

  async #loadMore(): Promise<void> {
    const after = this.#next;
    const page = after === undefined ? undefined : await this.#load(after);
    if (page === undefined) return;
    const known = new Set(this.#chats.map(({ chatId }) => chatId));
    const added = page.chats.filter(({ chatId }) => !known.has(chatId));
    this.#chats = [...this.#chats, ...added];
    this.#next = page.next;
    this.#render();
    const first = added[0];
    if (first !== undefined) this.#rows.get(first.chatId)?.link.focus();
  }

  async #load(after?: string): Promise<{ chats: readonly ListedChat[]; next?: string } | undefined> {
    const question = this.#question;
    const query = new URLSearchParams({ limit: String(PAGE_CHATS), archived: String(this.#withArchived.checked) });
    const text = this.#search.value.trim();
    if (text !== '') query.set('query', text);
    if (after !== undefined) query.set('after', after);
    try {
      const page = await this.#api.get<{ chats: readonly ListedChat[]; next?: string }>(`/v1/chats?${query}`);
      this.#onLoaded();
      return question === this.#question ? page : undefined;
    } catch (error) {
      this.#say(sayFailure(error));
      return undefined;
    }
  }

  #render(): void {
    const nowMs = Date.now();
    const wanted = this.#chats.map((chat) => {
      const row = this.#rows.get(chat.chatId) ?? makeRow(chat.chatId);
      this.#rows.set(chat.chatId, row);
      const state = chat.state === 'idle' && chat.lastError !== undefined ? 'failed' : chat.state;
      setText(row.name, chat.title ?? chat.chatId);
      setText(row.note, [...(state === 'idle' ? [] : [state]), saySince(chat.updatedAt, nowMs)].join(' · '));
      if (chat.chatId === this.#current) row.link.setAttribute('aria-current', 'page');
      else row.link.removeAttribute('aria-current');
      return row.element;
    });
    arrange(this.#list, wanted);
    this.#more.hidden = this.#next === undefined;
    const isSearching = this.#search.value.trim() !== '';
    this.#say(wanted.length > 0 ? '' : isSearching ? 'No chat has this text.' : 'There are no chats yet.');
  }

  #say(note: string): void {
    setText(this.#note, note);
    this.#note.hidden = note === '';
  }
}

function makeRow(chatId: string): Row {
  const name = make('span', { class: 'name' });
  const note = make('span', { class: 'note' });
  const link = make('a', { href: linkTo(chatId) }, name, note);
  return { element: make('li', {}, link), link, name, note };
}

export function linkTo(chatId: string): string {
  return `#/chats/${encodeURIComponent(chatId)}`;
}

/** The chat that the address names. */
export function chatOfAddress(): string | undefined {
  const found = /^#\/chats\/([^/]+)$/.exec(location.hash)?.[1];
  try {
    return found === undefined ? undefined : decodeURIComponent(found);
  } catch {
    // Nobody's link: a percent sign that encodes nothing.
    return undefined;
  }
}
