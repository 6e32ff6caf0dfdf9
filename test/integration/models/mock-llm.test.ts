import { expect, test } from 'vitest';
import { resolveModel } from '../../../activities/model/resolve-model.ts';
import { startMockLlm } from '../../fixtures/mock-llm.ts';
import type { MockLlmRule } from '../../fixtures/mock-llm.ts';
import { openModelTurns } from '../../fixtures/model-turns.ts';

function answer(message: object, finishReason: string): object {
  return {
    id: 'chatcmpl-{{timestamp}}',
    object: 'chat.completion',
    created: 1,
    model: '{{jmes request body.model}}',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finishReason }],
    usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 },
  };
}

function call(id: string, command: string): object {
  return { id, type: 'function', function: { name: 'execute', arguments: JSON.stringify({ command }) } };
}

const TWO_CALLS = [
  call('call_1', 'echo one >> ../run-log; echo out 1'),
  call('call_2', 'echo two >> ../run-log; exit 3'),
];

test('an outside OpenAI-compatible server drives a turn with tool calls, as a user’s provider would', async () => {
  const rules: MockLlmRule[] = [
    {
      match: "body.messages[-1].role == 'user'",
      answer: answer({ content: null, tool_calls: TWO_CALLS }, 'tool_calls'),
    },
    // Both results are there, in order, and the second says how it ended.
    {
      match: "body.messages[-2].tool_call_id == 'call_1' && contains(body.messages[-1].content, 'exit 3')",
      answer: answer({ content: 'The first worked, the second did not.' }, 'stop'),
    },
  ];
  const server = await startMockLlm(rules);
  // It streams text only: its calls have to be asked for whole.
  const env = { LATCHKEY_MODEL_BASE_URL: server.baseUrl, LATCHKEY_MODEL_STREAMING: 'off' };
  const turns = await openModelTurns(await resolveModel('openai-compatible/some-model', { env }));
  expect(await turns.run('do two things')).toMatchObject({ state: 'completed', steps: 2, calls: 2 });
  expect(turns.readRunLog().toSorted()).toEqual(['one', 'two']);
  const calls = await turns.calls();
  expect(calls.map(({ toolCallId, exitCode }) => [toolCallId, exitCode])).toEqual([
    ['call_1', 0],
    ['call_2', 3],
  ]);
  const conversation = await turns.store.loadConversation(calls[0]!.chatId);
  expect(conversation.at(-1)).toMatchObject({ role: 'assistant', text: 'The first worked, the second did not.' });
  const used = await turns.store.listUsage({ chatId: calls[0]!.chatId });
  expect(used.map(({ usage }) => [usage.inputTokens, usage.outputTokens])).toEqual([
    [10, 20],
    [10, 20],
  ]);
  expect(server.requestCount()).toBe(2);
});

test('an outside OpenAI-compatible server streams text, and its errors end the turn by name', async () => {
  const rules: MockLlmRule[] = [
    { match: '@', answer: answer({ content: 'Hello from elsewhere, piece by piece.' }, 'stop') },
    {
      match: "body.model == 'locked'",
      status: 401,
      answer: {
        error: { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' },
      },
    },
  ];
  const server = await startMockLlm(rules);
  const env = { LATCHKEY_MODEL_BASE_URL: server.baseUrl };
  const turns = await openModelTurns(await resolveModel('openai-compatible/some-model', { env }));
  expect(await turns.run('hello')).toMatchObject({ state: 'completed', steps: 1, calls: 0 });
  const locked = await openModelTurns(await resolveModel('openai-compatible/locked', { env }));
  expect(await locked.run('hello')).toMatchObject({ state: 'failed', error: { code: 'model_unauthorized' } });
});
