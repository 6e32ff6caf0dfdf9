/** The conversation as a provider is sent it. */
import type { JSONObject, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { CodedError } from '../../contract/failures.ts';
import type { AssistantMessage, ConversationCall, ConversationMessage } from '../../contract/messages.ts';
import { createProviderCallIds, toProviderToolName } from './provider-call-ids.ts';

const SYSTEM_TEXT =
  'You work in a workspace on a computer through the tool execute, which runs shell commands there. ' +
  "A line in brackets in a result tells how the command ended; it is ours, not the command's. Where it says that the " +
  'outcome is unknown, the command may have run: look at the workspace before you run it again.';

/**
 * Each call has exactly one result, in order, right after the message that asked for it (C1). Throws
 * `invariant_broken` if a call is still open: a result is never made up here.
 */
export function buildPrompt(conversation: readonly ConversationMessage[]): LanguageModelV4Prompt {
  const providerCallId = createProviderCallIds();
  const prompt: LanguageModelV4Prompt = [{ role: 'system', content: SYSTEM_TEXT }];
  for (const message of conversation) {
    if (message.role === 'user') prompt.push({ role: 'user', content: [{ type: 'text', text: message.text }] });
    else if (message.role === 'note') prompt.push(noteMessage(message.text));
    else prompt.push(...assistantMessages(message, providerCallId));
  }
  return prompt;
}

/** Providers have no place of its own for it, so it comes as the user's; the mark tells it from what a person said. */
function noteMessage(text: string): LanguageModelV4Message {
  const providerOptions = { latchkey: { isNote: true } };
  return { role: 'user', content: [{ type: 'text', text: `[${text}]` }], providerOptions };
}

export function isNote(message: LanguageModelV4Message): boolean {
  return message.providerOptions?.['latchkey']?.['isNote'] === true;
}

function assistantMessages(
  message: AssistantMessage,
  providerCallId: ReturnType<typeof createProviderCallIds>,
): LanguageModelV4Message[] {
  // Providers refuse a message without content, and text that is only white space.
  const hasText = message.text.trim() !== '';
  if (!hasText && message.calls.length === 0) return [];
  const calls = message.calls.map((call) => ({
    toolCallId: providerCallId(call),
    toolName: toProviderToolName(call.toolName),
    input: call.arguments as JSONObject,
    result: requireResult(call),
  }));
  const assistant: LanguageModelV4Message = {
    role: 'assistant',
    content: [
      ...(!hasText ? [] : [{ type: 'text' as const, text: message.text }]),
      ...calls.map(({ toolCallId, toolName, input }) => ({ type: 'tool-call' as const, toolCallId, toolName, input })),
    ],
  };
  if (calls.length === 0) return [assistant];
  return [
    assistant,
    {
      role: 'tool',
      content: calls.map(({ toolCallId, toolName, result }) => ({
        type: 'tool-result' as const,
        toolCallId,
        toolName,
        output: { type: result.isError ? ('error-text' as const) : ('text' as const), value: result.text },
      })),
    },
  ];
}

function requireResult(call: ConversationCall): { text: string; isError: boolean } {
  if (call.result !== undefined) return call.result;
  throw new CodedError('invariant_broken', `call ${call.key} has no result (${call.status}), so no model can be asked`);
}
