/** Follows a chat: tells its frames to an audience that knows turns, with what Temporal says of the turn that runs. */
import { setTimeout as delay } from 'node:timers/promises';
import type { StageFolder } from '../dev/stage-folder.ts';
import type { ChatFrame, StreamEvent } from '../open-store.ts';
import { rememberTurn } from '../run/latest-turn.ts';
import { lookAtWorkflow, PENDING_MS } from '../watch/watch-turn.ts';
import type { TurnAudience, TurnEnding } from '../watch/watch-turn.ts';
import type { ChatMirror } from './chat-mirror.ts';
import type { ChatSession } from './open-session.ts';

/** From a cursor on, or with so much of what was said before. */
export type TellFrom = { readonly after: number } | { readonly messagesMax: number };

export interface ChatAudience extends TurnAudience {
  /** Of a turn that ended while it was followed. */
  turnEnded(turn: number, ending: TurnEnding): Promise<void> | void;
}

export interface TellerOptions {
  readonly session: ChatSession;
  /** Keeps which turn began last. */
  readonly folder: StageFolder;
  readonly mirror: ChatMirror;
  readonly audience: ChatAudience;
  /** Told each time that the store broke off. */
  readonly onBreak: (error: unknown) => void;
  /** Ends the following, and the looks at the turn that runs. */
  readonly signal: AbortSignal;
}

export class ChatTeller {
  readonly #options: TellerOptions;
  #looking: { readonly turn: number; readonly controller: AbortController } | undefined;

  constructor(options: TellerOptions) {
    this.#options = options;
  }

  /** Gives each frame when it has been told. */
  async *tell(from: TellFrom): AsyncGenerator<ChatFrame, void, void> {
    const { session, folder, mirror, onBreak, signal } = this.#options;
    const { chatId, chats } = session;
    for await (const frame of chats.follow({ chatId, signal, onBreak, ...from })) {
      mirror.take(frame);
      if (frame.type === 'turn' && frame.state === 'active') rememberTurn(folder, { chatId, turn: frame.turn });
      await this.#take(frame);
      yield frame;
    }
    this.#follow(undefined);
  }

  async #take(frame: ChatFrame): Promise<void> {
    const { audience } = this.#options;
    if (frame.type === 'live') return;
    if (frame.type === 'reset') return audience.notice('events are missing here; the chat as it is now:');
    if (frame.type === 'status') this.#follow(frame.state === 'idle' ? undefined : frame.turn);
    // A frame of a snapshot is an event without number and time, of which the audience needs neither.
    await audience.event(frame as StreamEvent);
    if (frame.type !== 'turn' || frame.state === 'active') return;
    const { turn, state, error } = frame;
    await audience.turnEnded(turn, { state, ...(error !== undefined && { error }) });
  }

  #follow(turn: number | undefined): void {
    if (this.#looking?.turn === turn) return;
    this.#looking?.controller.abort();
    this.#looking = undefined;
    if (turn === undefined) return;
    const controller = new AbortController();
    this.#looking = { turn, controller };
    void this.#look(turn, AbortSignal.any([controller.signal, this.#options.signal]));
  }

  async #look(turn: number, signal: AbortSignal): Promise<void> {
    const { session, audience } = this.#options;
    const { chatId, stage } = session;
    // What is answered after the turn's end must not be told.
    const pending: TurnAudience['pending'] = (activities) => {
      if (!signal.aborted) audience.pending(activities);
    };
    const notice = (text: string): void => {
      if (!signal.aborted) audience.notice(text);
    };
    const look = lookAtWorkflow(stage.client, { chatId, turn, audience: { event: () => undefined, pending, notice } });
    while (!signal.aborted) {
      if (await look()) return;
      await delay(PENDING_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
