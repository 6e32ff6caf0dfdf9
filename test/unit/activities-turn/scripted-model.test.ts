import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LanguageModelV4Message, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { expect, onTestFinished, test } from 'vitest';
import { resolveModel } from '../../../activities/model/resolve-model.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/scripts');
const USER: LanguageModelV4Message = { role: 'user', content: [{ type: 'text', text: 'go' }] };

function asked(...ids: string[]): LanguageModelV4Message {
  return {
    role: 'assistant',
    content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'execute', input: { command: 'x' } })),
  };
}

function answered(...ids: string[]): LanguageModelV4Message {
  return {
    role: 'tool',
    content: ids.map((toolCallId) => ({
      type: 'tool-result',
      toolCallId,
      toolName: 'execute',
      output: { type: 'text', value: 'ok' },
    })),
  };
}

async function answer(file: string, ...prompt: LanguageModelV4Message[]): Promise<LanguageModelV4StreamPart[]> {
  const model = await resolveModel(`scripted:${file}`, { env: {} });
  const { stream } = await model.doStream({ prompt });
  return collect(stream);
}

async function collect(stream: ReadableStream<LanguageModelV4StreamPart>): Promise<LanguageModelV4StreamPart[]> {
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

async function scriptWith(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-script-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'script.json');
  await writeFile(file, text);
  return file;
}

test('which step comes next follows from the prompt alone', async () => {
  const file = join(FIXTURES, 'look-then-done.json');
  const first = await answer(file, USER);
  expect(first.filter((part) => part.type === 'tool-call')).toMatchObject([
    { toolCallId: 'look-1', toolName: 'execute' },
  ]);
  expect(first.filter((part) => part.type === 'text-delta').length).toBeGreaterThan(1);
  const second = await answer(file, USER, asked('look-1'), answered('look-1'));
  const text = second.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('');
  expect(text).toBe('All is well.');
  expect(await answer(file, USER, asked('look-1'), answered('look-1'), USER)).toEqual(first);
});

test('a script that has no such step refuses it and does not repeat itself', async () => {
  const script = await scriptWith('{"steps":[{"text":"only this"}]}');
  await expect(answer(script, USER, asked('a'), answered('a'))).rejects.toMatchObject({
    isRetryable: false,
    message: expect.stringMatching(/has 1 steps, and no step 2/),
  });
});

test.each<[string, LanguageModelV4Message[], RegExp]>([
  ['a call without a result', [USER, asked('a')], /exactly one result each/],
  ['a call with two results', [USER, asked('a'), answered('a', 'a')], /exactly one result each/],
  ['results in another order', [USER, asked('a', 'b'), answered('b', 'a')], /exactly one result each/],
  ['a result that comes later', [USER, asked('a'), USER, answered('a')], /exactly one result each/],
  ['a result without a call', [USER, answered('a')], /no calls are right before it/],
  ['an id that repeats', [USER, asked('a'), answered('a'), asked('a'), answered('a')], /"a" repeats/],
  ['an id that does not fit', [USER, asked('a b'), answered('a b')], /doesn't fit/],
  [
    'arguments that are no object',
    [
      USER,
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'execute', input: 'ls' }] },
      answered('a'),
    ],
    /not an object/,
  ],
  ['a message without content', [USER, { role: 'assistant', content: [] }], /has no content/],
])('%s is refused as by a strict provider', async (_name, prompt, message) => {
  await expect(answer(join(FIXTURES, 'look-then-done.json'), ...prompt)).rejects.toMatchObject({
    isRetryable: false,
    message: expect.stringMatching(message),
  });
});

test.each([
  ['that is not there', async () => '/nowhere/script.json', /ENOENT/],
  ['that is no JSON', () => scriptWith('{'), /JSON/],
  ['with a field that nobody knows', () => scriptWith('{"steps":[{"txt":"x"}]}'), /steps\.0: .*txt/],
])('a script %s is a configuration error that names file and cause', async (_name, file, cause) => {
  await expect(answer(await file(), USER)).rejects.toMatchObject({
    code: 'configuration',
    message: expect.stringMatching(cause),
  });
});

test.each(['gpt', 'nobody:x', 'scripted:', '', ':x'])(
  'the model name "%s" is refused and says what is known',
  async (name) => {
    await expect(resolveModel(name, { env: {} })).rejects.toThrow(
      /is not known: give anthropic\/<model>, .* or scripted:<file>/,
    );
  },
);

test('a pause before each piece ends at once when the call is aborted', async () => {
  const script = await scriptWith('{"steps":[{"text":"slow"}],"delayMs":60000}');
  const abort = new AbortController();
  const model = await resolveModel(`scripted:${script}`, { env: {} });
  const { stream } = await model.doStream({ prompt: [USER], abortSignal: abort.signal });
  const reading = collect(stream);
  abort.abort();
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
});
