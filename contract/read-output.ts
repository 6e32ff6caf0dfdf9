/** The workflow `readOutput`: what one command has printed, asked of its agent through that agent's worker. */
import type { ChatId, ExecutionKey, Handle } from './ids.ts';
import type { Target } from './target.ts';

export interface ReadOutputInput {
  readonly chatId: ChatId;
  readonly key: ExecutionKey;
  readonly target: Target;
  readonly handle: Handle;
  /** Bytes from this absolute offset on; absent: the first and the last ones. */
  readonly fromByte?: number;
}

export type ReadOutputResult =
  /** As the model's `process_output` shows it: what is left out of the middle is counted. */
  | { readonly state: 'read'; readonly text: string; readonly detail: string }
  /** The agent has nothing of it, such as output that is older than a day. */
  | { readonly state: 'refused'; readonly reason: string }
  | { readonly state: 'silent'; readonly reason: string };
