/**
 * A model call as a stream of what this system uses of it.
 *
 * The provider interface is called directly and not through `streamText`, which parses tool input on the way: text
 * that is JSON loses its raw form, and malformed input, unknown tools and doubled ids become errors or invented tool
 * results of its own, where a call must be stored as the model gave it and refused by us with a result (F05, R7).
 * Retrying is Temporal's, so nothing of `streamText`'s is missed.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { CodedError } from '../../contract/failures.ts';
import type { RawToolCall } from './draft-calls.ts';
import { toModelError } from './model-errors.ts';
import { TOOLS } from './tools.ts';

export interface ModelRequest {
  readonly model: LanguageModelV4;
  readonly prompt: LanguageModelV4Prompt;
  readonly abortSignal: AbortSignal;
  /** What the model may call; default: all that there is. */
  readonly tools?: readonly LanguageModelV4FunctionTool[];
  /** With so long between two parts the provider is given up; default 10 minutes, which thinking may take. */
  readonly silenceMsMax?: number;
}

const SILENCE_MS_MAX_DEFAULT = 10 * 60_000;

export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly call: RawToolCall }
  /** Something came that isn't used, such as a piece of a tool call's input. */
  | { readonly type: 'progress' }
  | { readonly type: 'finish'; readonly usage: LanguageModelV4Usage; readonly end: AnswerEnd };

/** `cut_short`: at the length limit, so the last call may be torn. `filtered`: the provider or the model refused to go on. */
export type AnswerEnd = 'whole' | 'cut_short' | 'filtered';

/**
 * Ends after `finish`. Throws an error with a code (`model-errors.ts`) for whatever goes wrong, a stream that is cut
 * short or falls silent included; when `abortSignal` fires, its reason.
 */
export async function* streamModel(request: ModelRequest): AsyncGenerator<ModelPart> {
  const { model, prompt, abortSignal, silenceMsMax = SILENCE_MS_MAX_DEFAULT, tools = TOOLS } = request;
  const ending = new AbortController();
  const watch = startWatch(ending, { abortSignal, silenceMsMax });
  let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
  try {
    const { signal } = ending;
    const { stream } = await Promise.race([
      model.doStream({ prompt, abortSignal: signal, ...offered(tools) }),
      watch.ended,
    ]);
    reader = stream.getReader();
    for (;;) {
      watch.restart();
      const { done, value } = await Promise.race([reader.read(), watch.ended]);
      if (done) throw new CodedError('model_unavailable', "the model's answer broke off before its end");
      const part = readPart(value);
      yield part;
      if (part.type === 'finish') return;
    }
  } catch (error) {
    abortSignal.throwIfAborted();
    throw toModelError(ending.signal.aborted ? ending.signal.reason : error);
  } finally {
    watch.stop();
    // Also when the consumer leaves early. What a stream says to its cancellation is of no more use.
    void reader?.cancel().catch(() => {});
    ending.abort();
  }
}

/** Some providers refuse an empty list. */
function offered(
  tools: readonly LanguageModelV4FunctionTool[],
): Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'> {
  return tools.length === 0 ? {} : { tools: [...tools], toolChoice: { type: 'auto' } };
}

function readPart(part: LanguageModelV4StreamPart): ModelPart {
  if (part.type === 'error') throw part.error;
  if (part.type === 'text-delta') return { type: 'text', text: part.delta };
  if (part.type === 'tool-call') {
    return { type: 'call', call: { id: part.toolCallId, name: part.toolName, input: part.input } };
  }
  if (part.type !== 'finish') return { type: 'progress' };
  const { unified } = part.finishReason;
  if (unified === 'error' || unified === 'interrupted') {
    throw new CodedError('model_unavailable', `the model's answer ended with "${unified}"`);
  }
  const end = unified === 'length' ? 'cut_short' : unified === 'content-filter' ? 'filtered' : 'whole';
  return { type: 'finish', usage: part.usage, end };
}

interface Watch {
  /** Rejects when the call was aborted or the provider has been silent for too long. */
  readonly ended: Promise<never>;
  restart(): void;
  stop(): void;
}

/** Ends a model call by `ending`: for the caller's reason, or for silence. */
function startWatch(
  ending: AbortController,
  { abortSignal, silenceMsMax }: { readonly abortSignal: AbortSignal; readonly silenceMsMax: number },
): Watch {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // It is raced several times or not at all; on its own it is no unhandled rejection.
  ended.catch(() => {});
  const end = (reason: unknown): void => {
    reject(reason);
    ending.abort(reason);
  };
  const onAbort = (): void => end(abortSignal.reason);
  const onSilence = (): void => {
    end(new CodedError('model_unavailable', `the provider was silent for ${silenceMsMax / 1000} s`));
  };
  let timer = setTimeout(onSilence, silenceMsMax);
  if (abortSignal.aborted) onAbort();
  else abortSignal.addEventListener('abort', onAbort, { once: true });
  return {
    ended,
    restart: () => {
      clearTimeout(timer);
      timer = setTimeout(onSilence, silenceMsMax);
    },
    stop: () => {
      clearTimeout(timer);
      abortSignal.removeEventListener('abort', onAbort);
    },
  };
}
