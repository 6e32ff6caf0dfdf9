/**
 * A model that reads its answers from a file: for tests, the demo and work without a key. It keeps nothing: which step
 * comes next follows from the prompt, so it survives a restart of the worker. It is as strict as a real provider.
 */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { isNote, replacedSteps } from './build-prompt.ts';
import { isSummaryRequest } from './compaction/summary-prompt.ts';
import { readScript } from './script-file.ts';
import type { ScriptStep } from './script-file.ts';
import { promptRefusal, refuseBrokenPrompt } from './strict-prompt.ts';

const PIECE_CHARACTERS = 16;
const HOLD_LOOK_MS = 50;

const USAGE: LanguageModelV4Usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** `file` is a JSON script, see `script-file.ts`; it is read at each call. */
export function createScriptedModel(file: string): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: file,
    supportedUrls: {},
    doGenerate: async (options) => {
      const { content } = await findAnswer(file, options);
      return { content, finishReason: finishReasonOf(content), usage: USAGE, warnings: [] };
    },
    doStream: async (options) => {
      const { content, delayMs } = await findAnswer(file, options);
      return { stream: ReadableStream.from(streamContent(content, { delayMs, signal: options.abortSignal })) };
    },
  };
}

async function findAnswer(
  file: string,
  { prompt, abortSignal }: LanguageModelV4CallOptions,
): Promise<{ content: LanguageModelV4Content[]; delayMs: number }> {
  const script = await readScript(file);
  refuseBrokenPrompt(prompt);
  if (isSummaryRequest(prompt.at(-1))) {
    const text = script.summary ?? `A summary of ${JSON.stringify(prompt.at(-1)?.content).length} characters.`;
    return { content: [{ type: 'text', text }], delayMs: script.delayMs ?? 0 };
  }
  const isPersons = (message: (typeof prompt)[number]) => message.role === 'user' && !isNote(message);
  const last = prompt.findLastIndex(isPersons);
  const steps = script.stepsByText?.[textOf(prompt[last])] ?? script.steps;
  const answered = prompt.slice(last + 1).filter((message) => message.role === 'assistant').length;
  const index = replacedSteps(prompt) + answered;
  const step = steps[index];
  if (step === undefined) throw promptRefusal(`the script ${file} has ${steps.length} steps, and no step ${index + 1}`);
  if (step.holdUntilFile !== undefined) await waitForFile(step.holdUntilFile, abortSignal);
  return { content: contentOf(step), delayMs: script.delayMs ?? 0 };
}

/** A summary may stand before it in the same message. */
function textOf(message: LanguageModelV4Message | undefined): string {
  const last = message?.role === 'user' ? message.content.at(-1) : undefined;
  return last?.type === 'text' ? last.text : '';
}

async function waitForFile(file: string, signal: AbortSignal | undefined): Promise<void> {
  while (!existsSync(file)) await sleep(HOLD_LOOK_MS, undefined, signal === undefined ? {} : { signal });
}

function contentOf(step: ScriptStep): LanguageModelV4Content[] {
  const calls = (step.calls ?? []).map((call) => ({
    type: 'tool-call' as const,
    toolCallId: call.id ?? '',
    toolName: call.name,
    input: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }));
  return step.text === undefined || step.text === '' ? calls : [{ type: 'text', text: step.text }, ...calls];
}

function finishReasonOf(content: readonly LanguageModelV4Content[]): LanguageModelV4FinishReason {
  const unified = content.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'stop';
  return { unified, raw: unified };
}

async function* streamContent(
  content: readonly LanguageModelV4Content[],
  { delayMs, signal }: { delayMs: number; signal: AbortSignal | undefined },
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  for (const part of piecesOf(content)) {
    signal?.throwIfAborted();
    if (delayMs > 0) await sleep(delayMs, undefined, signal === undefined ? {} : { signal });
    yield part;
  }
  yield { type: 'finish', usage: USAGE, finishReason: finishReasonOf(content) };
}

function piecesOf(content: readonly LanguageModelV4Content[]): LanguageModelV4StreamPart[] {
  return content.flatMap((part): LanguageModelV4StreamPart[] => {
    if (part.type === 'tool-call') return [part];
    if (part.type !== 'text') return [];
    const characters = Array.from(part.text);
    const count = Math.ceil(characters.length / PIECE_CHARACTERS);
    const deltas = Array.from({ length: count }, (_, index): LanguageModelV4StreamPart => {
      const delta = characters.slice(index * PIECE_CHARACTERS, (index + 1) * PIECE_CHARACTERS).join('');
      return { type: 'text-delta', id: 'text', delta };
    });
    return [{ type: 'text-start', id: 'text' }, ...deltas, { type: 'text-end', id: 'text' }];
  });
}
