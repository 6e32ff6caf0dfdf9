import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import type { StepUsage } from '../../store/step-usage.ts';

/** What a step cost, in one form for all providers; what a provider doesn't tell is left out. */
export function readUsage(model: string, { inputTokens, outputTokens }: LanguageModelV4Usage): StepUsage {
  const counts = {
    inputTokens: inputTokens.total,
    cacheReadTokens: inputTokens.cacheRead,
    cacheWriteTokens: inputTokens.cacheWrite,
    outputTokens: outputTokens.total,
    reasoningTokens: outputTokens.reasoning,
  };
  return { model, ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined)) };
}
