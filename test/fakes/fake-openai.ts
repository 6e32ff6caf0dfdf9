/** A server that speaks OpenAI's chat completions, as strict about a history as the strictest that we know. */
import { argumentsText, piecesOf, refuseCalls, startFakeProvider } from './fake-provider.ts';
import type { AskedCalls, Dialect, FakeLimits, FakeProvider, FakeReply } from './fake-provider.ts';

interface Message {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

interface Body {
  readonly messages: readonly Message[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
}

export const OPENAI_USAGE = {
  prompt_tokens: 40,
  completion_tokens: 7,
  total_tokens: 47,
  prompt_tokens_details: { cached_tokens: 30 },
  completion_tokens_details: { reasoning_tokens: 2 },
};

export const OPENAI_DIALECT: Dialect = {
  path: '/v1/chat/completions',
  refuse: refuseMessages,
  errorBody: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
  events: (reply, body: Body) => {
    if ('status' in reply) return [];
    const chunks: object[] = [chunk({ role: 'assistant', content: '' })];
    for (const piece of piecesOf(reply.text ?? '')) chunks.push({ ...chunk({ content: piece }), piece: true });
    if ('streamError' in reply) return [...chunks, { error: reply.streamError }].map(event);
    for (const [index, call] of (reply.calls ?? []).entries()) chunks.push(...callChunks(call, index));
    const reason = reply.isCutShort === true ? 'length' : (reply.calls ?? []).length > 0 ? 'tool_calls' : 'stop';
    chunks.push(chunk({}, reason));
    if (body.stream_options?.include_usage === true) chunks.push({ ...chunk({}), choices: [], usage: OPENAI_USAGE });
    return [...chunks.map(event), 'data: [DONE]\n\n'];
  },
};

export function startFakeOpenAi(replies: readonly FakeReply[], limits?: FakeLimits): Promise<FakeProvider> {
  return startFakeProvider(OPENAI_DIALECT, replies, limits);
}

/** The name and half of the arguments first, as a real stream has them. */
function callChunks(call: Parameters<typeof argumentsText>[0], index: number): object[] {
  const text = argumentsText(call);
  const half = Math.floor(text.length / 2);
  const begin = { ...(call.id === undefined ? {} : { id: call.id }), type: 'function' };
  return [
    chunk({
      tool_calls: [{ index, ...begin, function: { name: call.name ?? 'execute', arguments: text.slice(0, half) } }],
    }),
    chunk({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] }),
  ];
}

function chunk(delta: object, finishReason: string | null = null): object {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return { id: 'chatcmpl-fake', object: 'chat.completion.chunk', created: 1, model: 'fake', choices };
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function refuseMessages({ messages }: Body): string | undefined {
  const asked: AskedCalls[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (callsBefore(messages, index) === undefined)
        return `messages[${index}] is a tool result without a call before it`;
      continue;
    }
    const calls = message.tool_calls ?? [];
    if (calls.length === 0 && (message.content ?? '') === '')
      return `messages[${index}] (${message.role}) has no content`;
    if (message.tool_calls === undefined) continue;
    const after = messages.slice(index + 1);
    const end = after.findIndex(({ role }) => role !== 'tool');
    const results = end === -1 ? after : after.slice(0, end);
    asked.push({
      asked: calls.map((call) => ({ id: call.id, arguments: parse(call.function.arguments) })),
      answeredIds: results.map((result) => result.tool_call_id),
    });
  }
  const first = messages.find(({ role }) => role !== 'system');
  const begins = first?.role === 'user' ? undefined : 'after the system message, roles must begin with user';
  return refuseCalls(asked) ?? begins;
}

/** The assistant message that a tool message belongs to: before it are only other tool messages. */
function callsBefore(messages: readonly Message[], index: number): Message['tool_calls'] {
  return messages.slice(0, index).findLast(({ role }) => role !== 'tool')?.tool_calls;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No JSON is as wrong as JSON that is no object.
    return undefined;
  }
}
