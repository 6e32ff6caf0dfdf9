/** Waits for the end of a process that has a handle, until its budget is over. */
import type { CallOutcome } from '../../contract/calls.ts';
import { KILL_GRACE_MS_DEFAULT } from '../../contract/limits.ts';
import type { OutputAnswer, OutputRequest } from '../../contract/wire/output.ts';
import { ask } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { budgetMsOf } from './dispatch.ts';
import { endByWord, endDetached, endOfProcess, VIEW } from './endings.ts';

/** After TERM, grace and KILL the agent's own kill has ended the tree, or says which processes survive. */
const KILL_MARGIN_MS = 10_000;
/** The agent waits up to 30 s for the reader of an ended command; then the output is as good as it gets. */
const SETTLE_MS_MAX = 35_000;
/** After an answer that came sooner than it might have, so that no agent in whatever state is asked in a tight loop. */
const PAUSE_MS = 50;

/**
 * The budget counts from the original start by the agent's boot clock (C4), so an attempt that attached late waits
 * only for what is left. The end is looked for once more when it is over: a real exit wins.
 */
export async function follow(attempt: Attempt, ageMs: number): Promise<CallOutcome> {
  const { clock, signal, input } = attempt;
  const isKilledAtBudget = input.request.onTimeout === 'kill';
  const limitMs = budgetMsOf(attempt) + (isKilledAtBudget ? KILL_GRACE_MS_DEFAULT + KILL_MARGIN_MS : 0);
  let leftMs = Math.ceil(limitMs - ageMs);
  let endedSinceMs: number | undefined;
  for (;;) {
    const isSettling = endedSinceMs !== undefined;
    const isLastLook = isSettling ? clock.bootMs() - (endedSinceMs ?? 0) > SETTLE_MS_MAX : leftMs <= 0;
    const waitMs = isSettling ? attempt.waitMs : Math.min(attempt.waitMs, leftMs);
    const askedAtMs = clock.bootMs();
    const asked = await look(attempt, isLastLook ? 0 : waitMs, isLastLook);
    if (asked.kind !== 'answer') return endByWord(attempt, asked);
    const { answer } = asked;
    // At the deadline the bytes were asked for whether or not the reader of an ended command has caught up.
    const isEarly = isLastLook && !isSettling && answer.exit !== undefined && answer.outputOpen;
    if (answer.state === 'lost' || (answer.view !== undefined && !isEarly)) {
      const end = endOfProcess(attempt, answer);
      if (end !== undefined) return end;
    }
    if (answer.exit !== undefined) {
      endedSinceMs ??= clock.bootMs();
      await clock.sleep(PAUSE_MS, signal);
      continue;
    }
    if (isLastLook) return endDetached(attempt, 'budget', { startedAt: answer.startedAt, answer });
    // Rounded up: a wait of a fraction of a millisecond would be asked for without end.
    leftMs = Math.ceil(limitMs - answer.ageMs);
    attempt.pulse.tell({ bytes: answer.total, lastLine: answer.lastLine, target: attempt.target });
    if (clock.bootMs() - askedAtMs < waitMs / 2) await clock.sleep(PAUSE_MS, signal);
  }
}

function look(attempt: Attempt, waitMs: number, isLastLook: boolean) {
  const { client, input, signal, handle } = attempt;
  if (handle === undefined) throw new Error('a process is followed by its handle');
  const view = isLastLook ? VIEW : { ...VIEW, onlyWhenEnded: true };
  return ask<OutputAnswer>(attempt, () => {
    const request: Omit<OutputRequest, 'protocol'> = { target: attempt.target, chatId: input.chatId, handle, view };
    return client.output({ ...request, waitMs }, { signal });
  });
}
