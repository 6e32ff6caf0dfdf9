/** A conversation as it is stored: what was said, independent of any provider's format. */
import type { ChatId, ExecutionKey, MessageId, ToolCallId } from './ids.ts';

export interface UserMessage {
  readonly role: 'user';
  readonly id: MessageId;
  readonly chatId: ChatId;
  readonly turn: number;
  readonly text: string;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly id: MessageId;
  readonly chatId: ChatId;
  readonly turn: number;
  readonly step: number;
  readonly text: string;
  readonly calls: readonly ConversationCall[];
}

/** A call with its result, as the next model call sees it (C1: exactly one result each, in order). */
export interface ConversationCall {
  readonly key: ExecutionKey;
  readonly toolCallId: ToolCallId;
  readonly toolName: string;
  /** The arguments as the model gave them: a JSON object (`{}` where they could not be parsed). */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Undefined while the call is open. */
  readonly result?: { readonly text: string; readonly isError: boolean };
}

/** Stands for the older part of a conversation before the model; people still see that part. It comes first. */
export interface SummaryMessage {
  readonly role: 'summary';
  readonly id: MessageId;
  readonly chatId: ChatId;
  /** In which it was made. */
  readonly turn: number;
  readonly text: string;
  /** Assistant messages that it stands for, of the turn of the newest user's message. */
  readonly replacedSteps: number;
}

/** Something that became known after a result was recorded (C3): the result stays as it is, and the model reads this. */
export interface NoteMessage {
  readonly role: 'note';
  readonly chatId: ChatId;
  /** The highest message id that was taken when it became known: it stands after that message. */
  readonly afterMessageId: number;
  readonly text: string;
}

export type SaidMessage = UserMessage | AssistantMessage | SummaryMessage;
export type ConversationMessage = SaidMessage | NoteMessage;
