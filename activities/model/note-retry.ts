import { Context } from '@temporalio/activity';
import { FAILURES, findFailureCode } from '../../contract/failures.ts';
import type { StepRetry } from '../../store/step-retry.ts';
import { applicationFailure } from '../failure.ts';
import { ModelError } from './model-errors.ts';
import { findRetryDelay } from './retry-delay.ts';

/**
 * Runs a model call. When it fails and will be tried again, `note` is told at once, to withdraw what was shown and say
 * what is waited for; a provider's Retry-After becomes the least that is waited.
 */
export async function withRetryNoted<Value>(
  note: (retry: StepRetry) => Promise<void>,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const code = findFailureCode(error);
    if (code !== 'model_unavailable' && code !== 'model_rate_limited') throw error;
    const message = error instanceof Error ? error.message : String(error);
    const { info } = Context.current();
    const delay = findRetryDelay(info, error instanceof ModelError ? error.retryAfterMs : undefined);
    if (delay === undefined) throw giveUp(code, message, info.attempt);
    // Its own refusals (overtaken, closed) say more than the model's failure: nobody waits for this attempt any more.
    await note({ code, message, attempt: info.attempt, retryInMs: delay.ms });
    throw applicationFailure(code, sentence(message), {
      retryable: FAILURES[code].kind === 'fault',
      ...(delay.isAskedFor ? { nextRetryDelayMs: delay.ms } : {}),
    });
  }
}

function giveUp(code: 'model_unavailable' | 'model_rate_limited', message: string, attempts: number): Error {
  return applicationFailure(code, sentence(`after ${attempts} attempts: ${message}`), { retryable: true });
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
