import { describe, expect, test } from 'vitest';
import { startFakeAnthropic } from '../../fakes/fake-anthropic.ts';
import { startFakeOpenAi } from '../../fakes/fake-openai.ts';

interface History {
  readonly asks: readonly (readonly [id: string, argumentsText: string])[];
  readonly answers: readonly string[];
}

/** One history for both dialects: the calls of two steps, and which ids were answered after each. */
const HISTORIES: readonly (readonly [string, readonly History[], RegExp | undefined])[] = [
  [
    'a sound one',
    [
      {
        asks: [
          ['a', '{}'],
          ['b', '{}'],
        ],
        answers: ['a', 'b'],
      },
    ],
    undefined,
  ],
  [
    'a dangling call',
    [
      {
        asks: [
          ['a', '{}'],
          ['b', '{}'],
        ],
        answers: ['a'],
      },
    ],
    /must be answered once each/,
  ],
  ['a call answered twice', [{ asks: [['a', '{}']], answers: ['a', 'a'] }], /must be answered once each/],
  [
    'results in another order',
    [
      {
        asks: [
          ['a', '{}'],
          ['b', '{}'],
        ],
        answers: ['b', 'a'],
      },
    ],
    /must be answered once each/,
  ],
  [
    'an id that is used twice',
    [
      { asks: [['a', '{}']], answers: ['a'] },
      { asks: [['a', '{}']], answers: ['a'] },
    ],
    /used twice/,
  ],
  ['an empty id', [{ asks: [['', '{}']], answers: [''] }], /does not match/],
  [
    'an id outside the alphabet',
    [{ asks: [['functions.exec:0', '{}']], answers: ['functions.exec:0'] }],
    /does not match/,
  ],
  ['an id that is too long', [{ asks: [['a'.repeat(65), '{}']], answers: ['a'.repeat(65)] }], /does not match/],
  ['arguments that are no object', [{ asks: [['a', '[]']], answers: ['a'] }], /not a JSON object/],
];

function openAiMessages(steps: readonly History[]): object[] {
  return [
    { role: 'user', content: 'go' },
    ...steps.flatMap(({ asks, answers }) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: asks.map(([id, text]) => ({
          id,
          type: 'function',
          function: { name: 'execute', arguments: text },
        })),
      },
      ...answers.map((id) => ({ role: 'tool', tool_call_id: id, content: 'ok' })),
    ]),
  ];
}

function anthropicMessages(steps: readonly History[]): object[] {
  return [
    { role: 'user', content: 'go' },
    ...steps.flatMap(({ asks, answers }) => [
      {
        role: 'assistant',
        content: asks.map(([id, text]) => ({
          type: 'tool_use',
          id,
          name: 'execute',
          input: JSON.parse(text) as unknown,
        })),
      },
      { role: 'user', content: answers.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })) },
    ]),
  ];
}

async function post(url: string, messages: readonly object[]): Promise<{ status: number; text: string }> {
  const body = JSON.stringify({ model: 'fake', stream: true, messages });
  const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  return { status: answer.status, text: await answer.text() };
}

describe.each([
  { name: 'OpenAI', start: startFakeOpenAi, path: '/chat/completions', messages: openAiMessages },
  { name: 'Anthropic', start: startFakeAnthropic, path: '/messages', messages: anthropicMessages },
])('the fake $name server', ({ start, path, messages }) => {
  test.each(HISTORIES)('meets %s as a strict provider does', async (_name, steps, refusal) => {
    const provider = await start([]);
    const answer = await post(`${provider.baseUrl}${path}`, messages(steps));
    expect(answer.status).toBe(refusal === undefined ? 200 : 400);
    if (refusal !== undefined) expect(answer.text).toMatch(refusal);
  });
});

test('the fakes refuse what only their own provider refuses', async () => {
  const openAi = `${(await startFakeOpenAi([])).baseUrl}/chat/completions`;
  const broken = { id: 'a', type: 'function', function: { name: 'execute', arguments: '{"command":' } };
  const unparsable = [
    { role: 'assistant', tool_calls: [broken] },
    { role: 'tool', tool_call_id: 'a', content: 'ok' },
  ];
  expect((await post(openAi, unparsable)).text).toMatch(/not a JSON object/);
  expect((await post(openAi, [{ role: 'tool', tool_call_id: 'a', content: 'ok' }])).text).toMatch(
    /without a call before it/,
  );
  expect((await post(openAi, [{ role: 'assistant', content: '' }])).text).toMatch(/has no content/);

  const anthropic = `${(await startFakeAnthropic([])).baseUrl}/messages`;
  const user = { role: 'user', content: 'go' };
  const result = { type: 'tool_result', tool_use_id: 'a', content: 'ok' };
  const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'execute', input: {} }] };
  expect((await post(anthropic, [user, { role: 'user', content: [result] }])).text).toMatch(/without tool_use blocks/);
  const late = { role: 'user', content: [{ type: 'text', text: 'hm' }, result] };
  expect((await post(anthropic, [user, use, late])).text).toMatch(/must come first/);
  expect((await post(anthropic, [user, { role: 'assistant', content: ' ' }, user])).text).toMatch(/non-whitespace/);
  expect((await post(anthropic, [user, { role: 'assistant', content: 'hm' }])).text).toMatch(/end with a user message/);
});
