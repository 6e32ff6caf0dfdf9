/** What may be sent as a message: checked by whoever sends it, by the chat before it takes it, and by the store. */
import { Refusal } from './failures.ts';
import { USER_MESSAGE_BYTES_MAX } from './limits.ts';
import { isWellFormed, utf8Length } from './well-formed.ts';

const CLIENT_MESSAGE_ID_CHARACTERS_MAX = 200;

export interface UserMessageText {
  readonly clientMessageId: string;
  readonly text: string;
}

/** Throws a refusal that names the field; its text never echoes the message. */
export function requireUserMessage({ clientMessageId, text }: UserMessageText): void {
  requireClientMessageId(clientMessageId);
  if (typeof text !== 'string' || text.trim() === '') {
    throw new Refusal('bad_request', 'the message is empty', 'text');
  }
  const bytes = utf8Length(text);
  if (bytes <= USER_MESSAGE_BYTES_MAX) return;
  throw new Refusal(
    'body_too_large',
    `the message has ${bytes} bytes; at most ${USER_MESSAGE_BYTES_MAX} are accepted: put long text in a file`,
    'text',
  );
}

export function requireClientMessageId(given: unknown): asserts given is string {
  const isUsable =
    typeof given === 'string' &&
    given !== '' &&
    given.length <= CLIENT_MESSAGE_ID_CHARACTERS_MAX &&
    !given.includes('\0') &&
    isWellFormed(given);
  if (isUsable) return;
  throw new Refusal(
    'bad_request',
    `clientMessageId has 1 to ${CLIENT_MESSAGE_ID_CHARACTERS_MAX} characters, no NUL, no lone surrogate`,
    'clientMessageId',
  );
}
