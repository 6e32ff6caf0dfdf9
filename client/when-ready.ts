/**
 * A workflow whose task has failed or timed out some times in a row takes no updates and answers no queries: the server
 * (1.29.1) refuses them and keeps nothing of them. It gets on by itself where its workers were killed, frozen or too busy.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CodedError } from '../contract/failures.ts';

/** Several tries of a task, with the server's growing pauses between them. */
const READY_MS_MAX = 60_000;
const AGAIN_MS = 500;

/** Asks until the workflow gets on. Throws `too_busy` when it still doesn't after a minute. */
export async function whenReady<Answer>(workflowId: string, ask: () => Promise<Answer>): Promise<Answer> {
  const endMs = performance.now() + READY_MS_MAX;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isNotReady(error)) throw error;
      if (performance.now() > endMs) {
        const said = `${workflowId} takes nothing for now: its workflow task fails or times out again and again. `;
        const next =
          'If that goes on, read the log of the turn workers, and the failure of its task in the Temporal UI.';
        throw new CodedError('too_busy', `${said}${next}`);
      }
    }
    await sleep(AGAIN_MS);
  }
}

export function isNotReady(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (/Workflow Task in failed state/i.test(cause.message)) return true;
  }
  return false;
}
