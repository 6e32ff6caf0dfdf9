/** Every property of a turn that has ended. */
import { endedOnce } from './checkers/ended-once.ts';
import { journalAgrees } from './checkers/journal-agrees.ts';
import { live } from './checkers/live.ts';
import { nothingRan } from './checkers/nothing-ran.ts';
import { oneResult } from './checkers/one-result.ts';
import { oneText } from './checkers/one-text.ts';
import { oneRun } from './checkers/one-run.ts';
import { recordedOnce } from './checkers/recorded-once.ts';
import { resultKept } from './checkers/result-kept.ts';
import { soundTasks } from './checkers/sound-tasks.ts';
import { strictPrompt } from './checkers/strict-prompt.ts';
import { trueEnd } from './checkers/true-end.ts';
import type { Evidence } from './evidence.ts';

export const CHECKERS = {
  oneRun,
  nothingRan,
  resultKept,
  oneResult,
  trueEnd,
  endedOnce,
  recordedOnce,
  soundTasks,
  oneText,
  strictPrompt,
  journalAgrees,
  live,
} as const satisfies Record<string, (evidence: Evidence) => string[]>;

export type Checker = keyof typeof CHECKERS;

export interface Violation {
  readonly checker: Checker;
  readonly text: string;
}

export function checkTurn(evidence: Evidence): Violation[] {
  return Object.entries(CHECKERS).flatMap(([checker, check]) =>
    check(evidence).map((text) => ({ checker: checker as Checker, text: `${evidence.name}: ${text}` })),
  );
}
