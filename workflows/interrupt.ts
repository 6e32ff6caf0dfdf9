/**
 * The request to stop the turn, and work that gives way to it.
 *
 * Handlers and a workflow cancel only file the request here; the code that waits looks at evidence first, since a
 * handler runs before a completion that is earlier in history (shared/notes/temporal-live.md A6).
 */
import { CancellationScope, condition, patched, sleep } from '@temporalio/workflow';
import { OPERATOR_TEXT_CHARACTERS_MAX } from '../contract/limits.ts';
import { requestFailure } from './errors.ts';

export class Interrupt {
  isRequested = false;

  /** False when it was requested before. */
  file(): boolean {
    const isNew = !this.isRequested;
    this.isRequested = true;
    return isNew;
  }

  /** Takes a cancel of `scope` (for the root: of the workflow) as the request; it reaches nothing else (C6). */
  follow(scope: CancellationScope): void {
    scope.cancelRequested.catch(() => this.file());
  }
}

/** As short as a timer can be: its command completes the workflow task that took the update. */
const RECORDED_AFTER_MS = 1;

/**
 * An update is in history only when the workflow task that took it has completed. A worker that dies before that takes
 * the request with it, but not what local activities have written for it: the store said "interrupted" of a turn whose
 * workflow knew of no interrupt (met by the fault matrix). So nothing is done for a request before the next task. A
 * cancel of the workflow is an event of its own.
 */
export async function untilRecorded(): Promise<void> {
  if (!patched('interrupt-is-recorded-first')) return;
  await CancellationScope.nonCancellable(() => sleep(RECORDED_AFTER_MS));
}

/** For the update's validator: throws for anything that is no `InterruptRequest`. */
export function requireInterruptRequest(given?: unknown): void {
  if (given === undefined || given === null) return;
  const who = typeof given === 'object' ? (given as { who?: unknown }).who : given;
  const isName = typeof who === 'string' && who.length <= OPERATOR_TEXT_CHARACTERS_MAX;
  if (typeof given === 'object' && (who === undefined || isName)) return;
  throw requestFailure('bad_request', 'give nothing, or {"who": "…"}');
}

export type Ending<Value> = { readonly value: Value } | { readonly error: unknown };

/** Work in a scope of its own, whose end is a value; inside a shield only `letGo` cancels it. */
export class Pending<Value> {
  ending: Ending<Value> | undefined;
  readonly #scope = new CancellationScope();

  constructor(work: () => Promise<Value>) {
    this.#scope.run(work).then(
      (value) => {
        this.ending ??= { value };
      },
      (error: unknown) => {
        this.ending ??= { error };
      },
    );
  }

  letGo(): void {
    this.#scope.cancel();
  }
}

/** The end of `work`, or undefined when the turn was interrupted before it and the work was let go. */
export async function untilInterrupted<Value>(
  interrupt: Interrupt,
  work: () => Promise<Value>,
): Promise<Ending<Value> | undefined> {
  const pending = new Pending(work);
  await condition(() => pending.ending !== undefined || interrupt.isRequested);
  if (pending.ending === undefined) pending.letGo();
  return pending.ending;
}
