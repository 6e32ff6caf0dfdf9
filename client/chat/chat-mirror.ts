/** What the frames of a chat have told so far: whether a turn runs, and what waits. */
import type { ChatFrame } from '../open-store.ts';

export interface WaitingMessage {
  readonly clientMessageId: string;
  readonly text: string;
}

export class ChatMirror {
  state: 'idle' | 'running' | 'interrupting' = 'idle';
  turn: number | undefined;
  /** In the order in which they will be answered. */
  waiting: readonly WaitingMessage[] = [];

  get isBusy(): boolean {
    return this.state !== 'idle' || this.waiting.length > 0;
  }

  take(frame: ChatFrame): void {
    switch (frame.type) {
      case 'status':
        if ('snapshot' in frame) this.waiting = [];
        this.state = frame.state;
        this.turn = frame.turn;
        return;
      case 'queued':
        this.#leaveOut(frame.clientMessageId);
        this.waiting = [...this.waiting, { clientMessageId: frame.clientMessageId, text: frame.text }];
        return;
      case 'queue':
        this.waiting = frame.queue.flatMap((id) => this.waiting.filter((message) => message.clientMessageId === id));
        return;
      case 'message':
        if (frame.role === 'user') this.#leaveOut(frame.clientMessageId);
        return;
      case 'turn':
        // The next frame says so too; who leaves between the two must not hear that the turn goes on.
        if (frame.state !== 'active' && frame.turn === this.turn) this.state = 'idle';
        return;
      case 'call':
      case 'chat':
      case 'compaction':
      case 'hidden':
      case 'live':
      case 'note':
      case 'part':
      case 'reset':
      case 'retry':
      case 'withdrawn':
      default:
    }
  }

  #leaveOut(clientMessageId: string): void {
    this.waiting = this.waiting.filter((message) => message.clientMessageId !== clientMessageId);
  }
}
