/** `start` by key until the call has a process, or has ended without one. */
import type { CallOutcome } from '../../contract/calls.ts';
import type { StartAnswer } from '../../contract/wire/start.ts';
import { ask } from './attempt.ts';
import { faultPoint } from '../fault-points.ts';
import type { Attempt } from './attempt.ts';
import { endByWord, endUnknown } from './endings.ts';
import { settleByFence } from './settle-by-fence.ts';

/** Between two questions about a launch that is under way; the agent has waited before it said so. */
const PENDING_PAUSE_MS = 100;
/** A launch takes milliseconds. One that takes this long hangs, and only a fence can end the wait (K6). */
const PENDING_MS_MAX = 120_000;

const NOT_READY =
  "The workspace is not ready: its start-up script still ran when the call's budget was over, so nothing was started.";

export type Dispatched =
  | { readonly kind: 'attached'; readonly started: StartedAnswer }
  /** The fence found it at work: follow the handle. */
  | { readonly kind: 'found'; readonly ageMs: number }
  | { readonly kind: 'ended'; readonly outcome: CallOutcome };

export type StartedAnswer = Extract<StartAnswer, { outcome: 'started' | 'attached' }>;

/** `mustExist`: an earlier attempt has had an answer of this journal to this key, so it is never run again here. */
export async function dispatch(attempt: Attempt, mustExist: boolean): Promise<Dispatched> {
  const { client, clock, input, pulse, signal } = attempt;
  const { chatId, key, nonce, request } = input;
  let pendingSinceMs: number | undefined;
  for (;;) {
    const asked = await ask(attempt, () => {
      pulse.requireLive();
      const { target, waitMs } = attempt;
      return client.start(
        {
          target,
          chatId,
          key,
          nonce,
          command: request.command,
          ...(request.workdir !== undefined && { workdir: request.workdir }),
          background: request.background,
          ...(request.onTimeout === 'kill' && { killAfterMs: budgetMsOf(attempt) }),
          waitMs,
          ...(mustExist && { mustExist }),
        },
        { signal },
      );
    });
    if (asked.kind === 'answer') return taken(attempt, asked.answer);
    if (asked.kind === 'silence') return ended(await endByWord(attempt, asked));
    if (asked.word.kind === 'end') return ended(await endByWord(attempt, asked));
    if (asked.word.kind === 'refused') {
      return settleByFence(attempt, { code: 'invalid_arguments', detail: asked.error.message });
    }
    pendingSinceMs ??= clock.bootMs();
    const pendingMs = clock.bootMs() - pendingSinceMs;
    if (asked.error.code === 'not_ready') {
      // The start-up script may take its time, within the call's own budget (I13).
      if (pendingMs > budgetMsOf(attempt)) return settleByFence(attempt, { code: 'fenced', detail: NOT_READY });
    } else if (pendingMs > PENDING_MS_MAX) {
      return settleByFence(attempt, { code: 'fenced', detail: 'The agent could not launch it, so it was fenced.' });
    }
    await clock.sleep(PENDING_PAUSE_MS, signal);
  }
}

export function budgetMsOf(attempt: Attempt): number {
  return Math.max(1, Math.ceil(attempt.input.request.timeoutSeconds * 1000));
}

async function taken(attempt: Attempt, answer: StartAnswer): Promise<Dispatched> {
  if (answer.outcome === 'absent') {
    return ended(await endUnknown(attempt, 'absent', 'The journal that had taken the call does not know it any more.'));
  }
  faultPoint('execute-after-start');
  attempt.handle = answer.handle;
  const deadlineMs = attempt.clock.wallMs() - answer.ageMs + budgetMsOf(attempt);
  attempt.pulse.tell({
    phase: 'running',
    target: attempt.target,
    handle: answer.handle,
    started: answer.startedAt,
    deadline: new Date(deadlineMs).toISOString(),
  });
  return { kind: 'attached', started: answer };
}

function ended(outcome: CallOutcome): Dispatched {
  return { kind: 'ended', outcome };
}
