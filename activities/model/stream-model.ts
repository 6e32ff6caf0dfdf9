/**
 * A model call as a stream of what this system uses of it.
 *
 * The provider interface is called directly and not through `streamText`, which parses tool input on the way: text
 * that is JSON loses its raw form, and malformed input, unknown tools and doubled ids become errors or invented tool
 * results of its own, where a call must be stored as the model gave it and refused by us with a result (F05, R7).
 * Retrying is Temporal's, so nothing of `streamText`'s is missed.
 */
import type { LanguageModelV4, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { CodedError, Refusal, findFailureCode } from '../../contract/failures.ts';
import type { RawToolCall } from './draft-calls.ts';
import { EXECUTE_TOOL } from './execute-tool.ts';

export interface ModelRequest {
  readonly model: LanguageModelV4;
  readonly prompt: LanguageModelV4Prompt;
  readonly abortSignal: AbortSignal;
}

export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly call: RawToolCall }
  /** Something came that isn't used, such as a piece of a tool call's input. */
  | { readonly type: 'progress' }
  | { readonly type: 'finish'; readonly usage: unknown };

/**
 * Ends after `finish`. Throws `model_refused` for what a repeat won't change, `model_unavailable` for anything else
 * that goes wrong, a stream that is cut short included; when `abortSignal` fires, its reason.
 */
export async function* streamModel({ model, prompt, abortSignal }: ModelRequest): AsyncGenerator<ModelPart> {
  const aborted = rejectWhenAborted(abortSignal);
  let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
  try {
    const { stream } = await Promise.race([
      model.doStream({ prompt, abortSignal, tools: [EXECUTE_TOOL], toolChoice: { type: 'auto' } }),
      aborted,
    ]);
    reader = stream.getReader();
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), aborted]);
      if (done) throw new CodedError('model_unavailable', "the model's answer broke off before its end");
      const part = readPart(value);
      yield part;
      if (part.type === 'finish') return;
    }
  } catch (error) {
    abortSignal.throwIfAborted();
    throw toModelError(error);
  } finally {
    // Also when the consumer leaves early. What a stream says to its cancellation is of no more use.
    void reader?.cancel().catch(() => {});
  }
}

function readPart(part: LanguageModelV4StreamPart): ModelPart {
  if (part.type === 'error') throw part.error;
  if (part.type === 'text-delta') return { type: 'text', text: part.delta };
  if (part.type === 'tool-call') {
    return { type: 'call', call: { id: part.toolCallId, name: part.toolName, input: part.input } };
  }
  if (part.type !== 'finish') return { type: 'progress' };
  const { unified } = part.finishReason;
  if (unified !== 'error' && unified !== 'interrupted') return { type: 'finish', usage: part.usage };
  throw new CodedError('model_unavailable', `the model's answer ended with "${unified}"`);
}

function toModelError(error: unknown): unknown {
  if (findFailureCode(error) !== undefined) return error;
  const message = error instanceof Error ? error.message : String(error);
  const isFinal =
    typeof error === 'object' && error !== null && (error as { isRetryable?: unknown }).isRetryable === false;
  return isFinal ? new Refusal('model_refused', message) : new CodedError('model_unavailable', message);
}

function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (signal.aborted) reject(signal.reason);
  else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  // It is raced several times or not at all; on its own it is no unhandled rejection.
  promise.catch(() => {});
  return promise;
}
