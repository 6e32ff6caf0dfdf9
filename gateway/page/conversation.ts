/**
 * One chat as it is shown: applies frames by the rules of docs/gateway.md, and knows no document. Messages and calls are
 * replaced, never changed in place, so that a view sees by identity what is new.
 */
import type { Call, Failure, Frame, ListedMessage, MessageBody, RunState, Tail, Waiting } from './wire.ts';

export interface ShownMessage {
  readonly id: number;
  readonly role: 'user' | 'assistant' | 'summary';
  readonly turn: number;
  readonly text: string;
  readonly clientMessageId?: string;
  /** Of a summary: for how many messages it stands before the model. */
  readonly messageCount?: number;
  readonly callKeys: readonly string[];
}

export interface ShownNote {
  readonly key: string;
  readonly text: string;
}

export interface SeenTail {
  readonly tail: Tail;
  /** By the clock of this page. */
  readonly seenMs: number;
}

export interface Writing {
  readonly turn: number;
  readonly step: number;
  text: string;
}

/** What has changed while a page of earlier messages was on its way. */
interface EarlierRequest {
  readonly epoch: number;
  readonly calls: Map<string, Call>;
}

export class Conversation {
  state: RunState = 'idle';
  turn: number | undefined;
  error: Failure | undefined;
  agentId = '';
  model: string | undefined;
  title: string | undefined;
  isArchived = false;
  /** Ascending by id. */
  messages: readonly ShownMessage[] = [];
  readonly calls = new Map<string, Call>();
  readonly tails = new Map<string, SeenTail>();
  /** By the id of the message that they came after. */
  readonly notes = new Map<number, readonly ShownNote[]>();
  writing: Writing | undefined;
  /** What the turn waits for, in words. */
  notice: string | undefined;
  queue: readonly Waiting[] = [];
  hasEarlier = false;
  isLive = false;
  #epoch = 0;
  #earlier: EarlierRequest | undefined;

  take(frame: Frame, nowMs: number): void {
    const at = 'at' in frame ? frame.at : undefined;
    switch (frame.type) {
      case 'status':
        if ('snapshot' in frame) this.#clear();
        this.state = frame.state;
        this.turn = frame.turn;
        this.error = frame.error;
        if (frame.state === 'idle') this.#endStep();
        return;
      case 'live':
        this.isLive = true;
        this.hasEarlier = frame.hasEarlier;
        return;
      case 'reset':
        this.isLive = false;
        return;
      case 'chat':
        this.agentId = frame.agentId;
        this.model = frame.model;
        this.title = frame.title;
        this.isArchived = frame.isArchived;
        this.#epoch = frame.epoch;
        return;
      case 'message':
        this.#takeMessage(frame, at);
        return;
      case 'part':
        this.notice = undefined;
        if (this.writing?.turn !== frame.turn || this.writing.step !== frame.step) {
          this.writing = { turn: frame.turn, step: frame.step, text: '' };
        }
        this.writing.text += frame.text;
        return;
      case 'withdrawn':
        if (this.writing?.turn === frame.turn && this.writing.step === frame.step) this.writing = undefined;
        return;
      case 'retry':
        this.notice = `The model failed (${frame.code}): ${frame.message} It is asked again in ${inSeconds(frame.retryInMs)}.`;
        return;
      case 'compaction':
        this.notice = `The conversation is long: a summary of ${frame.messageCount} older messages is being written.`;
        return;
      case 'call':
        this.#takeCall(frame.call, at);
        return;
      case 'tail':
        this.tails.set(frame.key, { tail: frame, seenMs: nowMs });
        return;
      case 'note':
        this.#addNote(this.messages.at(-1)?.id ?? 0, frame);
        return;
      case 'queued':
        this.queue = [...this.queue.filter((each) => each.clientMessageId !== frame.clientMessageId), frame];
        return;
      case 'queue':
        this.queue = frame.queue.flatMap((id) => this.queue.find((each) => each.clientMessageId === id) ?? []);
        return;
      case 'hidden':
        this.#hide(frame);
        return;
      case 'turn':
        if (frame.state !== 'active') this.tails.clear();
        return;
      default:
        // A gateway that is newer than this page may tell more.
        frame satisfies never;
    }
  }

  /** Before a page of earlier messages is asked for; its answer goes to `addEarlier`. */
  beginEarlier(): { readonly before: number } | undefined {
    const oldest = this.messages[0]?.id;
    if (!this.hasEarlier || this.#earlier !== undefined || oldest === undefined) return undefined;
    this.#earlier = { epoch: this.#epoch, calls: new Map() };
    return { before: oldest };
  }

  /** False: what was shown has changed so much in the meantime that it has to be asked for again. */
  addEarlier(
    page: { readonly messages: readonly ListedMessage[]; readonly hasMore: boolean },
    before: number,
  ): boolean {
    const request = this.#earlier;
    this.#earlier = undefined;
    if (request === undefined || request.epoch !== this.#epoch || this.messages[0]?.id !== before) return false;
    const known = new Set(this.messages.map(({ id }) => id));
    const added = page.messages.filter(({ id }) => !known.has(id));
    for (const { calls, notes, id } of added) {
      for (const call of calls) this.calls.set(call.key, { ...call, ...request.calls.get(call.key) });
      if (notes.length > 0) this.notes.set(id, notes);
    }
    this.messages = [...added.map(toShown), ...this.messages];
    this.hasEarlier = page.hasMore;
    return true;
  }

  cancelEarlier(): void {
    this.#earlier = undefined;
  }

  /** Lets go of the oldest; they can be loaded again. */
  keepNewest(messagesMax: number): void {
    if (this.messages.length <= messagesMax || this.#earlier !== undefined) return;
    this.#forget(this.messages.slice(0, -messagesMax));
    this.messages = this.messages.slice(-messagesMax);
    this.hasEarlier = true;
  }

  #takeMessage(message: MessageBody, at: string | undefined): void {
    const calls = message.role === 'assistant' ? message.calls : [];
    for (const call of calls) this.calls.set(call.key, { ...(at !== undefined && { createdAt: at }), ...call });
    if (message.role === 'assistant') this.#endStep();
    if (message.role === 'user') {
      this.queue = this.queue.filter(({ clientMessageId }) => clientMessageId !== message.clientMessageId);
    }
    this.messages = [...this.messages.filter(({ id }) => id !== message.id), toShown({ ...message, calls })];
  }

  #takeCall(call: Call, at: string | undefined): void {
    this.#earlier?.calls.set(call.key, call);
    const known = this.calls.get(call.key);
    if (known === undefined) return;
    const isEnd = call.result !== undefined && known.result === undefined;
    // What is known of it now replaces what was known, but for what was told once.
    const { arguments: given, createdAt, resolvedAt = isEnd ? at : undefined } = known;
    this.calls.set(call.key, {
      ...(given !== undefined && { arguments: given }),
      ...(createdAt !== undefined && { createdAt }),
      ...(resolvedAt !== undefined && { resolvedAt }),
      ...call,
    });
    if (call.result !== undefined) this.tails.delete(call.key);
  }

  #addNote(afterId: number, note: ShownNote): void {
    this.notes.set(afterId, [...(this.notes.get(afterId) ?? []), { key: note.key, text: note.text }]);
  }

  #hide({ fromId, epoch }: { readonly fromId: number; readonly epoch: number }): void {
    this.#forget(this.messages.filter(({ id }) => id >= fromId));
    this.messages = this.messages.filter(({ id }) => id < fromId);
    this.#epoch = epoch;
    this.#endStep();
  }

  #forget(messages: readonly ShownMessage[]): void {
    for (const { id, callKeys } of messages) {
      this.notes.delete(id);
      for (const key of callKeys) {
        this.calls.delete(key);
        this.tails.delete(key);
      }
    }
  }

  #endStep(): void {
    this.writing = undefined;
    this.notice = undefined;
  }

  #clear(): void {
    this.messages = [];
    this.queue = [];
    this.calls.clear();
    this.tails.clear();
    this.notes.clear();
    this.isLive = false;
    this.hasEarlier = false;
    this.#earlier = undefined;
    this.#endStep();
  }
}

function toShown(
  message: Pick<ShownMessage, 'id' | 'role' | 'turn' | 'text'> & {
    readonly clientMessageId?: string;
    readonly messageCount?: number;
    readonly calls: readonly Call[];
  },
): ShownMessage {
  const { id, role, turn, text, clientMessageId, messageCount, calls } = message;
  return {
    id,
    role,
    turn,
    text,
    ...(clientMessageId !== undefined && { clientMessageId }),
    ...(messageCount !== undefined && { messageCount }),
    callKeys: calls.map(({ key }) => key),
  };
}

function inSeconds(ms: number): string {
  return `${Math.max(1, Math.round(ms / 1000))} s`;
}
