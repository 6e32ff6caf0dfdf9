import type { ChatMirror } from './chat-mirror.ts';
import type { ChatSession } from './open-session.ts';

/** What a command may use of the conversation that it is given in. */
export interface CommandContext {
  readonly session: ChatSession;
  readonly mirror: ChatMirror;
  readonly say: (line: string) => void;
  /** What the person sends next becomes this instead of a message; the text is put there to be changed. */
  readonly offer: (text: string, take: (text: string) => Promise<void>) => void;
  readonly leave: () => void;
}
