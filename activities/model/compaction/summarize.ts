/** Asks a model for the summary of what is replaced, in a request that fits, for a text that is shorter. */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { findFailureCode, Refusal } from '../../../contract/failures.ts';
import { streamModel } from '../stream-model.ts';
import type { ReplacedChoice } from './choose-replaced.ts';
import { cutEnd } from './cut-bytes.ts';
import { buildSummaryPrompt } from './summary-prompt.ts';
import { writeTranscript } from './transcript.ts';

/** A request that is too long as well is shortened to half of itself so often, down to so little. */
const HALVINGS_MAX = 4;
const TRANSCRIPT_BYTES_MIN = 2048;
/** A summary that the model makes longer is cut: it must be much shorter than what it stands for. */
const SUMMARY_BYTES_MAX = 32 * 1024;
const SUMMARY_SHARE_MAX = 0.5;

export interface SummaryRequest extends ReplacedChoice {
  readonly model: LanguageModelV4;
  /** Of the first request; what the model is known or guessed to take. */
  readonly transcriptBytesMax: number;
  readonly abortSignal: AbortSignal;
  readonly silenceMsMax?: number;
}

/** Throws as `streamModel` does; `model_context_too_long` when no request is short enough. */
export async function summarize(request: SummaryRequest): Promise<string> {
  const { replaced, replacedBytes, transcriptBytesMax } = request;
  let bytesMax = Math.max(transcriptBytesMax, TRANSCRIPT_BYTES_MIN);
  for (let halvings = 0; ; halvings++) {
    try {
      const text = await ask(request, writeTranscript(replaced, bytesMax));
      return cutEnd(text, Math.min(SUMMARY_BYTES_MAX, Math.floor(replacedBytes * SUMMARY_SHARE_MAX)));
    } catch (error) {
      const isLast = halvings === HALVINGS_MAX || bytesMax <= TRANSCRIPT_BYTES_MIN;
      if (isLast || findFailureCode(error) !== 'model_context_too_long') throw error;
      bytesMax = Math.max(Math.floor(Math.min(bytesMax, replacedBytes) / 2), TRANSCRIPT_BYTES_MIN);
    }
  }
}

async function ask(request: SummaryRequest, transcript: string): Promise<string> {
  const { model, abortSignal, silenceMsMax } = request;
  const silence = silenceMsMax === undefined ? {} : { silenceMsMax };
  let text = '';
  for await (const part of streamModel({
    model,
    prompt: buildSummaryPrompt(transcript),
    abortSignal,
    tools: [],
    ...silence,
  })) {
    if (part.type === 'text') text += part.text;
  }
  if (text.trim() === '') throw new Refusal('model_refused', 'the model gave no summary');
  return text.trim();
}
