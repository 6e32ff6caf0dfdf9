import { buildPrompt } from '../../../activities/model/build-prompt.ts';
import { refuseBrokenPrompt } from '../../../activities/model/strict-prompt.ts';
import type { Evidence } from '../evidence.ts';

/** C1: a strict provider takes the chat as it is now: no call dangles, no result is doubled or out of order. */
export function strictPrompt({ conversation }: Evidence): string[] {
  try {
    refuseBrokenPrompt(buildPrompt(conversation));
    return [];
  } catch (error) {
    return [`a strict provider refuses the chat: ${String(error)}`];
  }
}
