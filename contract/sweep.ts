/** What a sweep works on: what the store holds open although nobody works on it any more. */
import type { CommittedCall } from './calls.ts';
import type { ChatId } from './ids.ts';

export interface SweepInput {
  /** How long an agent is asked before the turn is closed with `unknown`, and a settle takes over. */
  readonly askForMs?: number;
}

export interface SweepResult {
  readonly turnsClosed: number;
  readonly settlesStarted: number;
  /** Chats in which a message waits while no turn runs, and whose workflows were told so. */
  readonly chatsWoken: number;
}

/** A turn that runs in the store, and whose workflow is closed or unknown to Temporal. */
export interface StrayTurn {
  readonly chatId: ChatId;
  readonly turn: number;
}

/** A call whose end is still asked for, and whose settle is not there. */
export interface StrayCall {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly call: CommittedCall;
}
