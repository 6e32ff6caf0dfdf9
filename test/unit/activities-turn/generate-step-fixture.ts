import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { MockLanguageModelV4 } from 'ai/test';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createTurnActivities } from '../../../activities/turn-activities.ts';
import type { ModelResolver } from '../../../activities/model/resolve-model.ts';
import type { CompactionDue, GenerateStepInput, GenerateStepResult } from '../../../contract/activity-interfaces.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import type { Store } from '../../../store/store.ts';
import { AGENT, CHAT } from '../store/chat-fixture.ts';

export const STEP: GenerateStepInput = {
  chatId: CHAT,
  turn: 1,
  step: 1,
  messageId: parseMessageId(2),
  stepNonce: 'nonce',
  agentId: AGENT,
  model: 'test',
  showCommands: true,
};

export const FINISH: LanguageModelV4StreamPart = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
};

export function textPart(delta: string): LanguageModelV4StreamPart {
  return { type: 'text-delta', id: 'text', delta };
}

export function callPart(id: string, input: string, toolName = 'execute'): LanguageModelV4StreamPart {
  return { type: 'tool-call', toolCallId: id, toolName, input };
}

/** A model whose one answer is what the generator yields; it waits where the generator waits. */
export function streamingModel(
  parts: (signal: AbortSignal | undefined) => AsyncGenerator<LanguageModelV4StreamPart>,
): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async ({ abortSignal }) => ({ stream: ReadableStream.from(parts(abortSignal)) }),
  });
}

export function modelOf(...parts: LanguageModelV4StreamPart[]): MockLanguageModelV4 {
  return streamingModel(async function* () {
    yield* parts;
  });
}

export interface Attempt {
  readonly environment: MockActivityEnvironment;
  readonly result: Promise<GenerateStepResult>;
}

/** Starts an attempt in an environment of its own. */
export function startAttempt(
  store: Store,
  model: LanguageModelV4 | ModelResolver,
  input: Partial<GenerateStepInput> = {},
  info: ConstructorParameters<typeof MockActivityEnvironment>[0] = {},
): Attempt {
  const models: ModelResolver = typeof model === 'function' ? model : () => model;
  const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
  const { generateStep } = createTurnActivities({ store, models });
  const result: Promise<GenerateStepResult | CompactionDue> = environment.run(generateStep, { ...STEP, ...input });
  // None of these has a context window set.
  return { environment, result: result as Promise<GenerateStepResult> };
}

export function runAttempt(...attempt: Parameters<typeof startAttempt>): Promise<GenerateStepResult> {
  return startAttempt(...attempt).result;
}
