/**
 * One model call: asks the model, shows its text while it writes, commits message and calls in one transaction (F10).
 * Idempotent by chat, turn and step: a committed step returns what is stored and asks no model.
 */
import { Context } from '@temporalio/activity';
import type { CompactionDue, GenerateStepInput, GenerateStepResult } from '../contract/activity-interfaces.ts';
import { CodedError, Refusal } from '../contract/failures.ts';
import type { ChatId } from '../contract/ids.ts';
import { TARGET_FRESH_MS } from '../contract/limits.ts';
import type { Target } from '../contract/target.ts';
import type { StepAttempt } from '../store/steps.ts';
import type { StepUsage } from '../store/step-usage.ts';
import type { Store } from '../store/store.ts';
import { faultPoint } from './fault-points.ts';
import { startAge } from './model/activity-age.ts';
import { startBeating } from './model/beat.ts';
import { buildPrompt } from './model/build-prompt.ts';
import { isWindowFull } from './model/compaction/context-window.ts';
import type { ContextWindow } from './model/compaction/context-window.ts';
import { draftCalls } from './model/draft-calls.ts';
import type { RawToolCall } from './model/draft-calls.ts';
import { createPartWriter } from './model/part-writer.ts';
import type { PartWriter } from './model/part-writer.ts';
import { withRetryNoted } from './model/note-retry.ts';
import { readUsage } from './model/read-usage.ts';
import type { ModelResolver } from './model/resolve-model.ts';
import { streamModel } from './model/stream-model.ts';
import type { ModelPart } from './model/stream-model.ts';
import { withActivityFailures } from './to-activity-failure.ts';

interface Dependencies {
  readonly store: Store;
  readonly models: ModelResolver;
  readonly now: () => number;
  readonly modelSilenceMsMax?: number;
  readonly contextWindow?: ContextWindow;
}

export function generateStepWith(
  dependencies: Dependencies,
): (input: GenerateStepInput) => Promise<GenerateStepResult | CompactionDue> {
  return async (input) => {
    const stopBeating = startBeating();
    try {
      return await withActivityFailures(() => generateStep(dependencies, input));
    } finally {
      stopBeating();
    }
  };
}

async function generateStep(
  dependencies: Dependencies,
  input: GenerateStepInput,
): Promise<GenerateStepResult | CompactionDue> {
  const { store } = dependencies;
  const { chatId, turn, step, messageId, stepNonce, agentId, showCommands } = input;
  const { info } = Context.current();
  const ageMs = startAge(info, dependencies.now);
  const begun = await store.beginStep({
    chatId,
    turn,
    step,
    messageId,
    stepNonce,
    attemptScheduledMs: info.currentAttemptScheduledTimestampMs,
  });
  if (begun.state === 'committed') return begun.result;
  faultPoint('generate-begun');
  if (input.isCompacted !== true && (await isCompactionDue(dependencies, chatId))) return { isCompactionDue: true };
  const generated = await withRetryNoted(
    (retry) => store.noteRetry(begun.attempt, retry),
    () => askModel(dependencies, input, begun.attempt),
  );
  const target = freshTarget(input, ageMs());
  faultPoint('generate-before-commit');
  const committed = await store.commitStep(begun.attempt, {
    text: generated.text,
    calls: draftCalls(generated.calls, { showCommands, isCutShort: generated.isCutShort }),
    agentId,
    usage: generated.usage,
    ...(target === undefined ? {} : { target }),
  });
  faultPoint('generate-after-commit');
  return committed;
}

/** Asked before the model is, since its refusal of what is too long may come only after a long wait, or cost. */
async function isCompactionDue({ store, contextWindow }: Dependencies, chatId: ChatId): Promise<boolean> {
  return contextWindow !== undefined && isWindowFull(contextWindow, await store.findContextUse(chatId));
}

interface Generated {
  readonly text: string;
  readonly calls: readonly RawToolCall[];
  readonly isCutShort: boolean;
  readonly usage: StepUsage;
}

async function askModel(
  { store, models, modelSilenceMsMax }: Dependencies,
  input: GenerateStepInput,
  attempt: StepAttempt,
): Promise<Generated> {
  const prompt = buildPrompt(await store.loadConversation(input.chatId));
  const parts = createPartWriter((text) => store.writePart(attempt, text));
  try {
    const { cancellationSignal: abortSignal } = Context.current();
    const silence = modelSilenceMsMax === undefined ? {} : { silenceMsMax: modelSilenceMsMax };
    return await gather(
      streamModel({ model: await models(input.model), prompt, abortSignal, ...silence }),
      parts,
      input.model,
    );
  } finally {
    await parts.stop();
  }
}

async function gather(stream: AsyncIterable<ModelPart>, parts: PartWriter, model: string): Promise<Generated> {
  const calls: RawToolCall[] = [];
  let text = '';
  for await (const part of stream) {
    if (part.type === 'text') {
      text += part.text;
      await parts.add(part.text);
    } else if (part.type === 'call') {
      calls.push(part.call);
    } else if (part.type === 'finish') {
      // A person must not be left with an empty answer and no reason.
      if (part.end === 'filtered' && text.trim() === '' && calls.length === 0) {
        throw new Refusal('model_refused', 'the provider or the model refused to answer this conversation');
      }
      return { text, calls, isCutShort: part.end === 'cut_short', usage: readUsage(model, part.usage) };
    }
  }
  throw new CodedError('invariant_broken', 'streamModel ended without a finish');
}

/** The target, if it is still young enough to be committed with the calls; else it is recorded before the dispatch. */
function freshTarget(input: GenerateStepInput, elapsedMs: number): Target | undefined {
  const { target, targetAgeMs, agentId } = input;
  if (target === undefined || targetAgeMs === undefined || target.agentId !== agentId) return undefined;
  return Math.max(targetAgeMs, 0) + elapsedMs < TARGET_FRESH_MS ? target : undefined;
}
