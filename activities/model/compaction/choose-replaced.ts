/**
 * What a summary takes the place of. Pure.
 *
 * Kept word for word: every message of a user that has no answer yet, every late truth (C3), every message with a call
 * that has no result yet, and the newest messages. A call and its result belong to one message here, so they are never
 * parted (C1). An earlier summary is always replaced: there is one at most.
 */
import type { AssistantMessage, ConversationMessage, SaidMessage } from '../../../contract/messages.ts';
import { utf8Length } from '../../../contract/well-formed.ts';

export interface ReplacedChoice {
  readonly replaced: readonly SaidMessage[];
  readonly replacedBytes: number;
}

/** Of all that could be replaced, so much at the end is kept as it is: what was just done is needed in full. */
const KEPT_SHARE = 0.25;
/** With less to gain a summary would be no shorter. */
const REPLACED_BYTES_MIN = 1024;

/** Undefined when there is too little to gain: less than `gainShareMin` of the whole. */
export function chooseReplaced(
  conversation: readonly ConversationMessage[],
  { gainShareMin }: { readonly gainShareMin: number },
): ReplacedChoice | undefined {
  const answered = lastAnswer(conversation);
  const replaceable = conversation
    .filter((message, index): message is SaidMessage => isReplaceable(message, index < answered))
    .map((message) => ({ message, bytes: messageBytes(message) }));
  const totalBytes = sum(conversation.map(messageBytes));
  let keptBytes = sum(replaceable.map(({ bytes }) => bytes)) * KEPT_SHARE;
  const kept = replaceable.toReversed().findIndex(({ message, bytes }) => {
    keptBytes -= bytes;
    return message.role === 'summary' || keptBytes < 0;
  });
  const chosen = replaceable.slice(0, replaceable.length - Math.max(kept, 0));
  const replacedBytes = sum(chosen.map(({ bytes }) => bytes));
  const isOnlySummary = chosen.every(({ message }) => message.role === 'summary');
  if (isOnlySummary || replacedBytes < Math.max(REPLACED_BYTES_MIN, totalBytes * gainShareMin)) return undefined;
  return { replaced: chosen.map(({ message }) => message), replacedBytes };
}

/** As good as the length before a model. */
export function messageBytes(message: ConversationMessage): number {
  if (message.role !== 'assistant') return utf8Length(message.text);
  const calls = message.calls.map((call) => utf8Length(JSON.stringify(call.arguments) + (call.result?.text ?? '')));
  return utf8Length(message.text) + sum(calls);
}

function isReplaceable(message: ConversationMessage, isAnswered: boolean): boolean {
  if (message.role === 'note') return false;
  if (message.role === 'user') return isAnswered;
  return message.role === 'summary' || message.calls.every((call) => call.result !== undefined);
}

/** The index of the last reply without calls: what users said before it has been answered. */
function lastAnswer(conversation: readonly ConversationMessage[]): number {
  return conversation.findLastIndex((message) => message.role === 'assistant' && isAnswer(message));
}

function isAnswer({ calls, text }: AssistantMessage): boolean {
  return calls.length === 0 && text.trim() !== '';
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
