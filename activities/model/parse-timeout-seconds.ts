import { TIMEOUT_SECONDS_DEFAULT, TIMEOUT_SECONDS_MAX } from '../../contract/limits.ts';

export type ParsedTimeout =
  | { readonly seconds: number; readonly note?: string; readonly fault?: never }
  | { readonly seconds?: never; readonly note?: never; readonly fault: string };

/** A number, or one written as text, which models do. */
const NUMERIC_TEXT = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/** Keeps a product such as 1.1 × 1000 = 1100.0000000000002 from being rounded up by a whole millisecond. */
const ROUNDING_SLACK_MS = 1e-6;

/** Never unlimited and never at once (F06, R15): left out it is the default, too long it is lowered with a note. */
export function parseTimeoutSeconds(value: unknown): ParsedTimeout {
  if (value === undefined) return { seconds: TIMEOUT_SECONDS_DEFAULT };
  const number = typeof value === 'string' && NUMERIC_TEXT.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number) || number <= 0) {
    return { fault: `timeout_seconds is a number of seconds above 0, not ${shown(value)}` };
  }
  if (number > TIMEOUT_SECONDS_MAX) {
    return {
      seconds: TIMEOUT_SECONDS_MAX,
      note: `timeout_seconds ${shown(value)} was lowered to ${TIMEOUT_SECONDS_MAX} (${TIMEOUT_SECONDS_MAX / 3600} h), the most there is`,
    };
  }
  // Rounded up: part of a millisecond must not become none.
  return { seconds: Math.max(1, Math.ceil(number * 1000 - ROUNDING_SLACK_MS)) / 1000 };
}

const SHOWN_CHARACTERS_MAX = 40;

function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}…`;
}
