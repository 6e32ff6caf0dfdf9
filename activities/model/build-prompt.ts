/** The conversation as a provider is sent it. */
import type { JSONObject, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { CodedError } from '../../contract/failures.ts';
import type {
  AssistantMessage,
  ConversationCall,
  ConversationMessage,
  SummaryMessage,
} from '../../contract/messages.ts';
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
    if (message.role === 'user') addUserMessage(prompt, message.text);
    else if (message.role === 'summary') prompt.push(summaryMessage(message));
    else if (message.role === 'note') prompt.push(noteMessage(message.text));
    else prompt.push(...assistantMessages(message, providerCallId));
  }
  return prompt;
}

const SUMMARY_TEXT =
  'Summary of the older part of this conversation, which became too long and is left out. What was done since the ' +
  'messages that follow may be part of it:';

/** A user's message too, since strict providers want the user to begin. */
function summaryMessage({ text, replacedSteps: steps }: SummaryMessage): LanguageModelV4Message {
  const providerOptions = { latchkey: { isNote: true, isSummary: true, replacedSteps: steps } };
  return { role: 'user', content: [{ type: 'text', text: `[${SUMMARY_TEXT}\n${text}]` }], providerOptions };
}

/** Right after a summary it goes into the same message: the strictest providers want roles to alternate. */
function addUserMessage(prompt: LanguageModelV4Prompt, text: string): void {
  const part = { type: 'text' as const, text };
  const last = prompt.at(-1);
  if (last?.role !== 'user' || last.providerOptions?.['latchkey']?.['isSummary'] !== true) {
    prompt.push({ role: 'user', content: [part] });
    return;
  }
  const providerOptions = { latchkey: { replacedSteps: replacedSteps(prompt) } };
  prompt[prompt.length - 1] = { role: 'user', content: [...last.content, part], providerOptions };
}

/** Steps of the newest turn that a summary stands for. */
export function replacedSteps(prompt: LanguageModelV4Prompt): number {
  const counts = prompt.map((message) => message.providerOptions?.['latchkey']?.['replacedSteps']);
  return counts.find((count) => typeof count === 'number') ?? 0;
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
  throw new CodedError('invariant_broken', `call ${call.key} has no result, so no model can be asked`);
}
