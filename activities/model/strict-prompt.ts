import { APICallError } from '@ai-sdk/provider';
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';

/** A refusal such as a strict provider gives with status 400: a repeat of the same request won't help. */
export function promptRefusal(message: string): APICallError {
  return new APICallError({ message, url: 'scripted:', requestBodyValues: {}, statusCode: 400, isRetryable: false });
}

/**
 * Refuses what strict providers refuse: a conversation that the user doesn't begin, a call without exactly one result right after it, results in another order,
 * an id that repeats or doesn't fit, arguments that are no object, a message without content.
 */
export function refuseBrokenPrompt(prompt: LanguageModelV4Prompt): void {
  const first = prompt.findIndex(({ role }) => role !== 'system');
  if (prompt[first]?.role !== 'user') throw promptRefusal(`message ${first} must be the user's`);
  const seen = new Set<string>();
  for (const [index, message] of prompt.entries()) {
    if (message.content.length === 0) throw promptRefusal(`message ${index} (${message.role}) has no content`);
    if (message.role === 'assistant') checkAssistant(message, prompt[index + 1], seen);
    if (message.role === 'tool' && callIds(prompt[index - 1]).length === 0) {
      throw promptRefusal(`message ${index} has tool results, but no calls are right before it`);
    }
  }
}

function checkAssistant(
  message: LanguageModelV4Message & { role: 'assistant' },
  next: LanguageModelV4Message | undefined,
  seen: Set<string>,
): void {
  for (const part of message.content) {
    if (part.type !== 'tool-call') continue;
    const { toolCallId, input } = part;
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(toolCallId)) throw promptRefusal(`tool call id "${toolCallId}" doesn't fit`);
    if (seen.has(toolCallId)) throw promptRefusal(`tool call id "${toolCallId}" repeats`);
    seen.add(toolCallId);
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      throw promptRefusal(`the arguments of call "${toolCallId}" are not an object`);
    }
  }
  const asked = callIds(message).join(', ');
  const answered = resultIds(next).join(', ');
  if (asked === answered) return;
  throw promptRefusal(
    `calls [${asked}] must have exactly one result each, in order, right after them; got [${answered}]`,
  );
}

function callIds(message: LanguageModelV4Message | undefined): string[] {
  if (message?.role !== 'assistant') return [];
  return message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []));
}

function resultIds(message: LanguageModelV4Message | undefined): string[] {
  if (message?.role !== 'tool') return [];
  return message.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []));
}
