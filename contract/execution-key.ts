/** Building, splitting and showing execution keys (design §2, A01). */
import { Refusal } from './failures.ts';
import { isUsableToolCallId, parseMessageId } from './ids.ts';
import type { ExecutionKey, MessageId, Nonce, ToolCallId } from './ids.ts';
import { ACTIVITY_ID_CHARACTERS_MAX } from './limits.ts';
import { cutAtCharacter } from './well-formed.ts';

export function buildExecutionKey(parts: { messageId: MessageId; toolCallId: ToolCallId }): ExecutionKey {
  return `${parts.messageId}-${parts.toolCallId}` as ExecutionKey;
}

/**
 * Splits a key at its first `-`: message ids have none, so no two pairs build the same key.
 * Throws a refusal (`bad_request`, field `key`) for anything that `buildExecutionKey` can't have made.
 */
export function splitExecutionKey(key: unknown): { messageId: MessageId; toolCallId: ToolCallId } {
  if (typeof key !== 'string') throw badKey();
  const border = key.indexOf('-');
  const digits = key.slice(0, Math.max(border, 0));
  const toolCallId = key.slice(border + 1);
  if (!/^[1-9][0-9]{0,15}$/.test(digits) || !isUsableToolCallId(toolCallId)) throw badKey();
  const number = Number(digits);
  if (!Number.isSafeInteger(number)) throw badKey();
  return { messageId: parseMessageId(number), toolCallId: toolCallId as ToolCallId };
}

export function parseExecutionKey(key: unknown): ExecutionKey {
  splitExecutionKey(key);
  return key as ExecutionKey;
}

/**
 * The name by which an agent sends the signal of a call once (I07). By the nonce, so that another call that comes by
 * the same key is another sending (I02); a key itself, so that a sending can be fenced like any other (K6).
 */
export function sendingIdOf({ key, nonce }: { readonly key: ExecutionKey; readonly nonce: Nonce }): ExecutionKey {
  const { messageId } = splitExecutionKey(key);
  return buildExecutionKey({ messageId, toolCallId: `signal.${nonce}` as ToolCallId });
}

function badKey(): Refusal {
  return new Refusal(
    'bad_request',
    'key must be <assistantMessageId>-<toolCallId>: a positive whole number, "-", then 1 to 512 bytes without NUL',
    'key',
  );
}

/**
 * The form of a key that goes into `activityId`: the key itself, or, when that is longer than Temporal and the
 * eye should bear, its beginning and a digest. Only a label; the key travels in the arguments.
 */
export function activityIdOf(key: ExecutionKey): string {
  const safe = key.toWellFormed();
  if (safe === key && safe.length <= ACTIVITY_ID_CHARACTERS_MAX) return safe;
  const digest = digest53(key);
  return `${cutAtCharacter(safe, ACTIVITY_ID_CHARACTERS_MAX - digest.length - 1)}~${digest}`;
}

/** cyrb53 by bryc (public domain): 53 bits, needs no crypto, which workflows don't have. Not for secrets. */
function digest53(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36);
}
