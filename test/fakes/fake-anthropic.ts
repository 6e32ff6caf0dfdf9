/** A server that speaks Anthropic's messages, as strict about a history as the real one. */
import { argumentsText, piecesOf, refuseCalls, startFakeProvider } from './fake-provider.ts';
import type { AskedCalls, Dialect, FakeLimits, FakeProvider, FakeReply } from './fake-provider.ts';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
}

interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

const dialect: Dialect = {
  path: '/v1/messages',
  refuse: refuseMessages,
  errorBody: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  events: (reply) => {
    if ('status' in reply) return [];
    const usage = { input_tokens: 10, cache_read_input_tokens: 25, cache_creation_input_tokens: 5, output_tokens: 1 };
    const message = { id: 'msg_fake', type: 'message', role: 'assistant', model: 'fake', content: [], usage };
    const events = [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: 'ping' },
      ...textEvents(reply.text ?? ''),
    ];
    if ('streamError' in reply) return [...events, { type: 'error', error: reply.streamError }].map(event);
    const calls = reply.calls ?? [];
    const first = (reply.text ?? '') === '' ? 0 : 1;
    const stopReason = reply.isCutShort === true ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn';
    events.push(
      ...calls.flatMap((call, position) => callEvents(call, first + position)),
      { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: 7 } },
      { type: 'message_stop' },
    );
    return events.map(event);
  },
};

/** Its calls have ids, since the real one's always do. */
export function startFakeAnthropic(replies: readonly FakeReply[], limits?: FakeLimits): Promise<FakeProvider> {
  return startFakeProvider(dialect, replies, limits);
}

function textEvents(text: string): object[] {
  if (text === '') return [];
  return [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...piecesOf(text).map((piece) => ({
      type: 'content_block_delta',
      index: 0,
      piece: true,
      delta: { type: 'text_delta', text: piece },
    })),
    { type: 'content_block_stop', index: 0 },
  ];
}

function callEvents(call: Parameters<typeof argumentsText>[0], index: number): object[] {
  const text = argumentsText(call);
  const half = Math.floor(text.length / 2);
  const block = { type: 'tool_use', id: call.id ?? '', name: call.name ?? 'execute', input: {} };
  const delta = (partial: string) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json: partial },
  });
  return [
    { type: 'content_block_start', index, content_block: block },
    delta(text.slice(0, half)),
    delta(text.slice(half)),
    { type: 'content_block_stop', index },
  ];
}

function event(data: { type?: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function refuseMessages({ messages }: { messages: readonly Message[] }): string | undefined {
  const asked: AskedCalls[] = [];
  if (messages[0]?.role !== 'user') return 'messages.0: the first message must use the "user" role';
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = blocksOf(content);
    if (blocks.length === 0) return `messages.${index}: content must not be empty`;
    if (blocks.some(({ type, text }) => type === 'text' && (text ?? '').trim() === '')) {
      return `messages.${index}: text content blocks must contain non-whitespace text`;
    }
    const results = blocks.filter(({ type }) => type === 'tool_result');
    const before = messages[index - 1];
    if (results.length > 0 && (role !== 'user' || toolUses(before).length === 0)) {
      return `messages.${index}: tool_result blocks without tool_use blocks in the message before`;
    }
    if (blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result')) {
      return `messages.${index}: tool_result blocks must come first`;
    }
    if (role !== 'assistant') continue;
    const uses = toolUses(messages[index]);
    const answers = blocksOf(messages[index + 1]?.content ?? []).filter(({ type }) => type === 'tool_result');
    asked.push({
      asked: uses.map(({ id, input }) => ({ id, arguments: input })),
      answeredIds: answers.map((block) => block.tool_use_id),
    });
  }
  if (messages.at(-1)?.role !== 'user') return 'the conversation must end with a user message';
  return refuseCalls(asked);
}

function blocksOf(content: Message['content']): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function toolUses(message: Message | undefined): readonly Block[] {
  return message?.role === 'assistant' ? blocksOf(message.content).filter(({ type }) => type === 'tool_use') : [];
}
