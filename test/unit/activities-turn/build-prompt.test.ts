import { expect, test } from 'vitest';
import { buildPrompt } from '../../../activities/model/build-prompt.ts';
import { refuseBrokenPrompt } from '../../../activities/model/strict-prompt.ts';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import type { ToolCallId } from '../../../contract/ids.ts';
import type { AssistantMessage, ConversationCall, ConversationMessage } from '../../../contract/messages.ts';
import { CHAT } from '../store/chat-fixture.ts';

const user: ConversationMessage = {
  role: 'user',
  id: parseMessageId(1),
  chatId: CHAT,
  turn: 1,
  text: 'hi',
};

function call(messageId: number, id: string, extra: Partial<ConversationCall> = {}): ConversationCall {
  return {
    key: parseExecutionKey(`${messageId}-${id}`),
    toolCallId: id as ToolCallId,
    toolName: 'execute',
    arguments: { command: id },
    result: { text: `result of ${id}`, isError: false },
    ...extra,
  };
}

function assistant(id: number, text: string, calls: ConversationCall[]): AssistantMessage {
  return { role: 'assistant', id: parseMessageId(id), chatId: CHAT, turn: 1, step: id, text, calls };
}

test('C1: each call is followed by exactly one result, in the asked order, right after its message', () => {
  const failed = call(2, 'b', { result: { text: 'no', isError: true } });
  const prompt = buildPrompt([user, assistant(2, 'look', [call(2, 'a'), failed]), assistant(3, '', [call(3, 'a')])]);
  expect(prompt.slice(2)).toMatchObject([
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'look' }, { toolCallId: 'a', input: { command: 'a' } }, { toolCallId: 'b' }],
    },
    {
      role: 'tool',
      content: [
        { toolCallId: 'a', output: { type: 'text', value: 'result of a' } },
        { toolCallId: 'b', output: { type: 'error-text', value: 'no' } },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c3_a' }] },
    { role: 'tool', content: [{ toolCallId: 'c3_a' }] },
  ]);
  refuseBrokenPrompt(prompt);
});

test('C1: an open call is never given a made-up result', () => {
  const { result: _result, ...open } = call(2, 'a');
  expect(() => buildPrompt([user, assistant(2, '', [open])])).toThrow(/call 2-a has no result, so no model/);
});

test('a message without anything in it, and tool names that do not fit, do not reach the provider', () => {
  const prompt = buildPrompt([
    user,
    assistant(2, '', [call(2, 'a', { toolName: 'läuft nicht' })]),
    assistant(3, '', []),
  ]);
  expect(prompt).toHaveLength(4);
  expect(prompt[2]!.content[0]).toMatchObject({ toolName: 'unknown_tool' });
});
