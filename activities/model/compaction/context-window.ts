/** How much of a model's window is used, by what its provider counted for the last step. Pure. */
import type { StepUsage } from '../../../store/step-usage.ts';

export interface ContextWindow {
  readonly tokens: number;
  /** From this share of the window on the conversation is compacted before the next step. */
  readonly compactAtShare: number;
}

export function isWindowFull({ tokens, compactAtShare }: ContextWindow, usage: StepUsage | undefined): boolean {
  if (usage?.inputTokens === undefined) return false;
  // What the model wrote is part of what it reads next.
  return usage.inputTokens + (usage.outputTokens ?? 0) >= tokens * compactAtShare;
}
