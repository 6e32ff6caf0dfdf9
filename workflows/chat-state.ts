/**
 * What a chat may do next, as one pure state machine: what is asked of it and what becomes of its turns come in, what
 * is to be done goes out. The rows of the store have the last word on messages; this decides about turns (T1).
 *
 * | state | a turn runs | messages are taken | leaves it |
 * |---|---|---|---|
 * | idle | no | yes | a turn starts; it is archived |
 * | running | yes | yes | the turn ends; it is interrupted |
 * | interrupting | yes, to its end | yes | the turn ends |
 * | archived | no | no | it is opened again |
 */
import type { ChatState } from '../contract/chat.ts';
import type { FailureCode } from '../contract/failures.ts';

export interface ChatMachine {
  readonly state: ChatState;
  /** The turn that runs or is being stopped. */
  readonly turn?: number;
  /** Messages that wait, by the rows' last word. */
  readonly waiting: number;
  /** Edits that wait for the turn's end. */
  readonly heldEdits: number;
}

export type ChatEvent =
  | { readonly type: 'send'; readonly mode: 'queue' | 'interrupt' }
  /** The rows hold the message that was sent; it waits, or a turn has taken it (a duplicate). */
  | { readonly type: 'sent'; readonly mode: 'queue' | 'interrupt'; readonly isWaiting: boolean }
  | { readonly type: 'edit' }
  /** The rows say that the edit can be made, or that it was made before. */
  | { readonly type: 'edit_checked'; readonly isDone: boolean }
  | { readonly type: 'delete_queued' }
  | { readonly type: 'promote_queued' }
  | { readonly type: 'interrupt'; readonly turn?: number }
  | { readonly type: 'bind' }
  | { readonly type: 'archive' }
  | { readonly type: 'reopen' }
  | { readonly type: 'turn_started'; readonly turn: number }
  | { readonly type: 'turn_ended'; readonly end: 'completed' | 'failed' | 'interrupted' | 'gone' };

export type ChatAction =
  | 'enqueue_back'
  | 'enqueue_front'
  | 'check_edit'
  | 'apply_edit'
  | 'hold_edit'
  | 'apply_held_edits'
  | 'delete_queued'
  | 'promote_queued'
  | 'interrupt_turn'
  | 'bind'
  | 'archive'
  | 'reopen'
  /** Looks in the rows for what waits, and starts its turn. */
  | 'look';

export type ChatStep =
  | { readonly kind: 'move'; readonly next: ChatMachine; readonly actions: readonly ChatAction[] }
  /** Nothing changed; whoever asked is told why. */
  | { readonly kind: 'refuse'; readonly code: FailureCode; readonly message: string }
  /** Can't happen while the invariants hold; nothing changed. */
  | { readonly kind: 'defect'; readonly message: string };

export const NEW_CHAT: ChatMachine = { state: 'idle', waiting: 0, heldEdits: 0 };

export function applyToChat(chat: ChatMachine, event: ChatEvent): ChatStep {
  switch (event.type) {
    case 'send':
      return whereOpen(chat, () => stay(chat, event.mode === 'interrupt' ? 'enqueue_front' : 'enqueue_back'));
    case 'sent':
      return whereOpen(chat, () => takeSent(chat, event));
    case 'edit':
      return whereOpen(chat, () => stay(chat, 'check_edit'));
    case 'edit_checked':
      return whereOpen(chat, () => takeEdit(chat, event.isDone));
    case 'delete_queued':
    case 'promote_queued':
      return whereOpen(chat, () => stay(chat, event.type));
    case 'interrupt':
      return takeInterrupt(chat, event.turn);
    case 'bind':
      return stay(chat, 'bind');
    case 'archive':
      return archive(chat);
    case 'reopen':
      return chat.state === 'archived' ? move({ ...chat, state: 'idle' }, 'reopen') : stay(chat, 'reopen');
    case 'turn_started':
      return startTurn(chat, event.turn);
    case 'turn_ended':
      return endTurn(chat);
  }
}

/** The rows have the last word on how many messages wait. */
export function withWaiting(chat: ChatMachine, waiting: number): ChatMachine {
  return { ...chat, waiting };
}

function takeSent(chat: ChatMachine, event: Extract<ChatEvent, { type: 'sent' }>): ChatStep {
  if (!event.isWaiting) return stay(chat);
  if (chat.state === 'idle') return stay(chat, 'look');
  // Whoever sends it again, such as a chat that was reset, interrupts nothing once it was taken.
  return event.mode === 'interrupt' && chat.state === 'running' ? interrupt(chat) : stay(chat);
}

function takeEdit(chat: ChatMachine, isDone: boolean): ChatStep {
  // One that was made before stops nothing again, and is only told of.
  if (isDone) return chat.state === 'idle' ? stay(chat, 'apply_edit', 'look') : stay(chat, 'apply_edit');
  switch (chat.state) {
    case 'idle':
    case 'archived':
      return stay(chat, 'apply_edit', 'look');
    case 'running':
      return interrupt({ ...chat, heldEdits: chat.heldEdits + 1 }, 'hold_edit');
    case 'interrupting':
      return move({ ...chat, heldEdits: chat.heldEdits + 1 }, 'hold_edit');
  }
}

/** Without a turn, or with another one than was meant, it changes nothing. */
function takeInterrupt(chat: ChatMachine, turn: number | undefined): ChatStep {
  const isMeant = turn === undefined || turn === chat.turn;
  return chat.state === 'running' && isMeant ? interrupt(chat) : stay(chat);
}

function archive(chat: ChatMachine): ChatStep {
  switch (chat.state) {
    case 'archived':
      return stay(chat, 'archive');
    case 'running':
    case 'interrupting':
      return refuse('chat_busy', `turn ${chat.turn} is running: interrupt it, or wait for its end`);
    case 'idle':
      if (chat.waiting > 0)
        return refuse('chat_busy', `messages wait: ${chat.waiting}; delete them, or let them be answered`);
      return move({ ...chat, state: 'archived' }, 'archive');
  }
}

function startTurn(chat: ChatMachine, turn: number): ChatStep {
  // T1: one at a time.
  if (chat.state !== 'idle') return defect(`turn ${turn} was started while the chat is ${chat.state}`);
  return move({ ...chat, state: 'running', turn });
}

function endTurn(chat: ChatMachine): ChatStep {
  if (chat.state !== 'running' && chat.state !== 'interrupting') {
    return defect(`a turn has ended while the chat is ${chat.state}`);
  }
  const { turn: _turn, ...rest } = chat;
  const next: ChatMachine = { ...rest, state: 'idle', heldEdits: 0 };
  return chat.heldEdits > 0 ? move(next, 'apply_held_edits', 'look') : move(next, 'look');
}

function interrupt(chat: ChatMachine, ...actions: readonly ChatAction[]): ChatStep {
  return move({ ...chat, state: 'interrupting' }, ...actions, 'interrupt_turn');
}

function whereOpen(chat: ChatMachine, step: () => ChatStep): ChatStep {
  return chat.state === 'archived' ? refuse('chat_archived', 'the chat is archived') : step();
}

function stay(chat: ChatMachine, ...actions: readonly ChatAction[]): ChatStep {
  return { kind: 'move', next: chat, actions };
}

function move(next: ChatMachine, ...actions: readonly ChatAction[]): ChatStep {
  return { kind: 'move', next, actions };
}

function refuse(code: FailureCode, message: string): ChatStep {
  return { kind: 'refuse', code, message };
}

function defect(message: string): ChatStep {
  return { kind: 'defect', message };
}
