import type { Evidence } from '../evidence.ts';

/** The turn ended, and whoever asked for a call's end was told it, within the deadline. */
export function live({ wedged }: Evidence): string[] {
  return wedged === undefined ? [] : [`it is wedged: ${wedged}`];
}
