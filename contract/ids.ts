/** The identifiers of design §2, each parsed once at the edge and branded from then on. */
import { Refusal } from './failures.ts';
import { NONCE_CHARACTERS_MAX, TOOL_CALL_ID_BYTES_MAX } from './limits.ts';
import { isWellFormed, utf8Length } from './well-formed.ts';

type Brand<Base, Name extends string> = Base & { readonly __brand: Name };

/** Names a conversation. 1 to 64 of `A-Z a-z 0-9 . _ -`, beginning with a letter or digit. */
export type ChatId = Brand<string, 'ChatId'>;
/** Positive integer, allotted by the workflow; grows within a chat, never used twice, gaps allowed. */
export type MessageId = Brand<number, 'MessageId'>;
/** What the provider called the call; stored raw, filled when empty, told apart when doubled. */
export type ToolCallId = Brand<string, 'ToolCallId'>;
/** `<assistantMessageId>-<toolCallId>`: the idempotency key of one call, scoped by chat at the agent. */
export type ExecutionKey = Brand<string, 'ExecutionKey'>;
/** Random identity of this very call: equal keys with different nonces are different calls. */
export type Nonce = Brand<string, 'Nonce'>;
/** Minted by an agent at its first start. */
export type AgentId = Brand<string, 'AgentId'>;
/** Random, made with a journal; only the journal that was dispatched to can give evidence (K5). */
export type JournalId = Brand<string, 'JournalId'>;
/** Digest of boot id, machine id, pid namespace and the start time of its process 1. */
export type Incarnation = Brand<string, 'Incarnation'>;
/** Names a process at its agent, for reading output and signalling. */
export type Handle = Brand<string, 'Handle'>;

const CHAT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const OPAQUE_ID = /^[A-Za-z0-9][A-Za-z0-9._:+-]{0,127}$/;

export function parseChatId(text: unknown): ChatId {
  if (typeof text !== 'string' || !CHAT_ID.test(text)) {
    throw new Refusal(
      'bad_request',
      'chatId must be 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit',
      'chatId',
    );
  }
  return text as ChatId;
}

export function parseMessageId(value: unknown): MessageId {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new Refusal('bad_request', 'a message id is a positive whole number', 'messageId');
  }
  return value as MessageId;
}

export function parseAgentId(text: unknown): AgentId {
  if (typeof text !== 'string' || !OPAQUE_ID.test(text)) {
    throw new Refusal('bad_request', 'agentId must be 1 to 128 of A-Z a-z 0-9 . _ : + -', 'agentId');
  }
  return text as AgentId;
}

export function parseNonce(text: unknown): Nonce {
  if (typeof text !== 'string' || text.length === 0 || text.length > NONCE_CHARACTERS_MAX || !isWellFormed(text)) {
    throw new Refusal('bad_request', `a nonce has 1 to ${NONCE_CHARACTERS_MAX} characters`, 'nonce');
  }
  return text as Nonce;
}

/** The nonce of the call at `position` of a step: the workflow mints one per step, a call's adds its place. */
export function callNonce(stepNonce: string, position: number): Nonce {
  return `${stepNonce}.${position}` as Nonce;
}

/** Whether a provider's tool-call id can be stored raw (A02): not empty, at most 512 bytes, no NUL, well-formed. */
export function isUsableToolCallId(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    text.length > 0 &&
    !text.includes('\0') &&
    isWellFormed(text) &&
    utf8Length(text) <= TOOL_CALL_ID_BYTES_MAX
  );
}
