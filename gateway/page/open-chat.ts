/** The chat that is open: follows it, shows it, and does what is asked of it. */
import { sayFailure, UNREACHED } from './api.ts';
import type { Api } from './api.ts';
import type { Composer } from './composer.ts';
import { ConversationView } from './conversation-view.ts';
import { Conversation } from './conversation.ts';
import { requireElement, setText } from './elements.ts';
import { followEvents } from './follow-events.ts';
import type { Connection } from './follow-events.ts';
import { makeId } from './outbox.ts';
import type { Outbox } from './outbox.ts';
import { QueueView } from './queue-view.ts';
import { showHead } from './show-head.ts';
import type { ListedMessage, Settings } from './wire.ts';

const SNAPSHOT_MESSAGES = 50;
const EARLIER_MESSAGES = 50;
/** More than that are let go of while the newest are looked at, so that a long chat stays quick. */
const KEPT_MESSAGES_MAX = 300;
/** So near to the end it is the end. */
const END_PIXELS = 60;

export interface OpenChatParts {
  readonly api: Api;
  readonly settings: Settings;
  readonly composer: Composer;
  readonly outbox: Outbox;
}

export class OpenChat {
  readonly chatId: string;
  readonly conversation = new Conversation();
  readonly #parts: OpenChatParts;
  readonly #leaving = new AbortController();
  readonly #log = requireElement('log', HTMLElement);
  readonly #earlier = requireElement('earlier', HTMLButtonElement);
  readonly #newest = requireElement('newest', HTMLButtonElement);
  readonly #view: ConversationView;
  readonly #queue: QueueView;
  #connection: Connection = { state: 'connecting' };
  /** What was asked for last and failed. */
  #failure = '';
  #isDue = false;
  #isAtEnd = true;

  constructor(chatId: string, parts: OpenChatParts) {
    this.chatId = chatId;
    this.#parts = parts;
    const { signal } = this.#leaving;
    this.#view = new ConversationView(requireElement('messages', HTMLElement), {
      edit: (message, text) => this.#edit(message.id, text),
      cancelCall: (key) => this.#cancelCall(key),
      readOutput: (key) => this.#readOutput(key),
      endEdit: () => parts.composer.focus(),
      linkToTurn: (turn) => this.#linkToTurn(turn),
    });
    this.#queue = new QueueView({
      delete: (id) => void this.#do(() => parts.api.delete(`${this.#path}/queue/${encodeURIComponent(id)}`)),
      promote: (id) => void this.#do(() => parts.api.post(`${this.#path}/queue/${encodeURIComponent(id)}/promote`)),
      takeBack: ({ clientMessageId, text }) => {
        parts.outbox.remove(clientMessageId);
        parts.composer.put(text);
        parts.composer.focus();
      },
    });
    this.#log.addEventListener('scroll', () => this.#noteScroll(), { signal });
    this.#earlier.addEventListener('click', () => void this.#loadEarlier(), { signal });
    this.#newest.addEventListener('click', () => this.#toEnd(), { signal });
    // A message box that grows, or a keyboard that comes, moves the end out of sight.
    const sizes = new ResizeObserver(() => this.#isAtEnd && this.#toEnd());
    sizes.observe(this.#log);
    const second = setInterval(() => this.#view.tick(Date.now()), 1000);
    signal.addEventListener('abort', () => {
      clearInterval(second);
      sizes.disconnect();
    });
    parts.composer.open(chatId);
    void this.#follow();
    this.changed();
  }

  leave(): void {
    this.#leaving.abort();
    this.#view.clear();
    this.#queue.render([], []);
  }

  /** Shows what is so by the next frame; however much happens until then. */
  changed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const render = (): void => {
      if (!this.#isDue) return;
      this.#isDue = false;
      if (!this.#leaving.signal.aborted) this.#render();
    };
    requestAnimationFrame(render);
    // Frames sleep while nobody looks at the tab.
    setTimeout(render, 500);
  }

  /** A chat that wasn't there is made by its first message. */
  retry(): void {
    if (this.#connection.state === 'refused') void this.#follow();
  }

  async interrupt(): Promise<void> {
    if (this.conversation.state !== 'idle') await this.#do(() => this.#parts.api.post(`${this.#path}/interrupt`));
  }

  async toggleArchived(): Promise<void> {
    const isArchived = !this.conversation.isArchived;
    await this.#do(() => this.#parts.api.post(`${this.#path}/archive`, { isArchived }));
  }

  get #path(): string {
    return `/v1/chats/${encodeURIComponent(this.chatId)}`;
  }

  #pathOf(key: string): string {
    return `${this.#path}/calls/${encodeURIComponent(key)}`;
  }

  async #follow(): Promise<void> {
    await followEvents({
      api: this.#parts.api,
      chatId: this.chatId,
      messagesMax: SNAPSHOT_MESSAGES,
      signal: this.#leaving.signal,
      onFrame: (frame) => {
        this.conversation.take(frame, Date.now());
        // A snapshot comes whole or is replaced by another one: it is shown when it is there.
        if (this.conversation.isLive) this.changed();
      },
      onConnection: (connection) => {
        this.#connection = connection;
        if (connection.state === 'connected') this.#reconnect();
        this.changed();
      },
    });
  }

  #reconnect(): void {
    if (this.#failure === UNREACHED) this.#failure = '';
    this.#view.reconnect();
    void this.#parts.outbox.send();
  }

  #render(): void {
    const { conversation } = this;
    // What a reader has opened may have moved the end away without a scroll.
    this.#noteScroll();
    const { composer, outbox } = this.#parts;
    const known = new Set([
      ...conversation.queue.map(({ clientMessageId }) => clientMessageId),
      ...conversation.messages.map(({ clientMessageId }) => clientMessageId),
    ]);
    const outgoing = outbox.of(this.chatId).filter(({ clientMessageId }) => !known.has(clientMessageId));
    if (this.#isAtEnd) conversation.keepNewest(KEPT_MESSAGES_MAX);
    if (conversation.isLive) this.#view.render(conversation, Date.now());
    this.#queue.render(conversation.queue, outgoing);
    this.#earlier.hidden = !conversation.hasEarlier;
    composer.show({ isRunning: conversation.state !== 'idle', isArchived: conversation.isArchived });
    showHead(this.chatId, conversation, this.#connection, this.#failure);
    const welcome = requireElement('welcome', HTMLElement);
    welcome.hidden = !conversation.isLive || conversation.messages.length > 0;
    setText(welcome, 'Nothing was said yet.');
    if (this.#isAtEnd) this.#toEnd();
  }

  #noteScroll(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.#log;
    this.#isAtEnd = scrollHeight - scrollTop - clientHeight < END_PIXELS;
    this.#newest.hidden = this.#isAtEnd;
  }

  #toEnd(): void {
    if (this.#newest === document.activeElement) this.#log.focus();
    this.#log.scrollTop = this.#log.scrollHeight;
    this.#isAtEnd = true;
    this.#newest.hidden = true;
  }

  async #loadEarlier(): Promise<void> {
    const asked = this.conversation.beginEarlier();
    if (asked === undefined) return;
    const { before } = asked;
    this.#earlier.disabled = true;
    const isDone = await this.#do(async () => {
      const path = `${this.#path}/messages?before=${before}&limit=${EARLIER_MESSAGES}`;
      const page = await this.#parts.api.get<{ messages: ListedMessage[]; hasMore: boolean }>(path);
      const fromEnd = this.#log.scrollHeight - this.#log.scrollTop;
      this.#isAtEnd = false;
      this.conversation.addEarlier(page, before);
      this.#render();
      // What was looked at stays where it was.
      this.#log.scrollTop = this.#log.scrollHeight - fromEnd;
    });
    if (!isDone) this.conversation.cancelEarlier();
    this.#earlier.disabled = false;
    if (this.#earlier.hidden) this.#log.focus();
    else this.#earlier.focus({ preventScroll: true });
  }

  async #edit(messageId: number, text: string): Promise<void> {
    try {
      await this.#parts.api.post(`${this.#path}/messages/${messageId}/edit`, { text, clientMessageId: makeId() });
    } catch (error) {
      throw new Error(sayFailure(error), { cause: error });
    }
  }

  async #readOutput(key: string): Promise<string> {
    try {
      const { api } = this.#parts;
      return (await api.get<{ text: string }>(`${this.#pathOf(key)}/output?source=agent`)).text;
    } catch (error) {
      return sayFailure(error);
    }
  }

  async #cancelCall(key: string): Promise<void> {
    let stillRuns = '';
    const isDone = await this.#do(async () => {
      const path = `${this.#pathOf(key)}/cancel`;
      const { hasEnded, message } = await this.#parts.api.post<{ hasEnded: boolean; message: string }>(path);
      if (!hasEnded) stillRuns = `The command was not stopped: ${message}`;
    });
    if (isDone) this.#failure = stillRuns;
  }

  async #do(action: () => Promise<unknown>): Promise<boolean> {
    this.#failure = '';
    try {
      await action();
    } catch (error) {
      this.#failure = sayFailure(error);
    }
    this.changed();
    return this.#failure === '';
  }

  #linkToTurn(turn: number): string | undefined {
    const { temporalWorkflowsUrl } = this.#parts.settings;
    if (temporalWorkflowsUrl === undefined) return undefined;
    return `${temporalWorkflowsUrl}/${encodeURIComponent(`turn/${this.chatId}/${turn}`)}`;
  }
}
