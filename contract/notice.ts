/** The workflow that tells others of a turn's end, by a signed webhook, at least once. */
import type { ChatId } from './ids.ts';

/** The one argument of the workflow `notice`. What is told is read from the store when it is sent. */
export interface NoticeInput {
  readonly chatId: ChatId;
  readonly turn: number;
}

export type NoticeResult =
  | { readonly state: 'delivered'; readonly status: number }
  /** `reason`: a sentence for people; it is not tried again. */
  | { readonly state: 'given_up'; readonly reason: string };
