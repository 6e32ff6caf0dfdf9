/** Every property of a conversation that is over, one a file. */
import { answeredOnce } from './checkers/answered-once.ts';
import { inOrder } from './checkers/in-order.ts';
import { nothingOpen } from './checkers/nothing-open.ts';
import { oneRun } from './checkers/one-run.ts';
import { providerAgrees } from './checkers/provider-agrees.ts';
import { streamAgrees } from './checkers/stream-agrees.ts';
import { trueResults } from './checkers/true-results.ts';
import type { Seen } from './seen.ts';

const CHECKERS = { answeredOnce, inOrder, nothingOpen, oneRun, providerAgrees, streamAgrees, trueResults } as const;

export interface Violation {
  readonly checker: string;
  readonly text: string;
}

export function checkConversation(seen: Seen): Violation[] {
  return Object.entries(CHECKERS).flatMap(([checker, check]) => check(seen).map((text) => ({ checker, text })));
}
