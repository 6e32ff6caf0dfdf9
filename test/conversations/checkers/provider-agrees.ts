import { buildPrompt } from '../../../activities/model/build-prompt.ts';
import { refuseBrokenPrompt } from '../../../activities/model/strict-prompt.ts';
import { textOf } from '../provider.ts';
import type { WireMessage } from '../provider.ts';
import type { Seen } from '../seen.ts';

/** C1: the provider refused nothing, and what it was sent last is what the store shows, but for the answer to it. */
export function providerAgrees({ conversation, lastPrompt, refusals }: Seen): string[] {
  const said = refusals.map((reason) => `the provider refused: ${reason}`);
  try {
    const prompt = buildPrompt(conversation.slice(0, conversation.findLastIndex(({ role }) => role === 'user') + 1));
    refuseBrokenPrompt(prompt);
    const expected = prompt.flatMap(toLines);
    const sent = lastPrompt.flatMap(wireLines);
    const place = expected.findIndex((line, index) => line !== sent[index]);
    if (place === -1 && sent.length === expected.length) return said;
    return [
      ...said,
      `line ${place} of ${expected.length}: the store shows ${expected[place]}, the provider was sent ${sent[place]} (${sent.length} lines)`,
    ];
  } catch (error) {
    return [...said, `a strict provider refuses what the store shows: ${String(error)}`];
  }
}

/** One line for each text, call and result, in order. */
function toLines(message: ReturnType<typeof buildPrompt>[number]): string[] {
  if (message.role === 'system') return [`system: ${message.content}`];
  return message.content.map((part) => {
    if (part.type === 'text') return `${message.role}: ${part.text}`;
    if (part.type === 'tool-call') return `call ${part.toolCallId}: ${JSON.stringify(part.input)}`;
    if (part.type === 'tool-result')
      return `result ${part.toolCallId}: ${'value' in part.output ? JSON.stringify(part.output.value) : ''}`;
    return part.type;
  });
}

function wireLines(message: WireMessage): string[] {
  const text = textOf(message);
  if (message.role === 'tool') return [`result ${message.tool_call_id}: ${JSON.stringify(text)}`];
  const calls = (message.tool_calls ?? []).map(({ id, function: { arguments: given } }) => `call ${id}: ${given}`);
  return [...(text === '' ? [] : [`${message.role}: ${text}`]), ...calls];
}
