/**
 * When `start` itself can't be carried through: a fence makes sure of the key (K6), and its answer is the call's end.
 * A fence touches nothing that runs, so this is no kill (C6).
 */
import type { EvidenceCode } from '../../contract/calls.ts';
import { ask } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import type { Dispatched } from './dispatch.ts';
import { endByWord, endNoEffect, endUnknown } from './endings.ts';

const PENDING_PAUSE_MS = 100;

/** `nothingRan`: what the end is called when the key turns out never to have run. */
export async function settleByFence(
  attempt: Attempt,
  nothingRan: { code: EvidenceCode; detail: string },
): Promise<Dispatched> {
  const { client, input, clock, signal } = attempt;
  const { chatId, key, nonce } = input;
  for (;;) {
    const asked = await ask(attempt, () => {
      // A stale attempt must not fence what its successor is about to start.
      attempt.pulse.requireLive();
      const { target, waitMs } = attempt;
      return client.cancel({ target, chatId, key, nonce, mode: 'fence', waitMs }, { signal });
    });
    if (asked.kind === 'silence') return { kind: 'ended', outcome: await endByWord(attempt, asked) };
    if (asked.kind === 'refusal' && asked.word.kind !== 'pending') {
      return { kind: 'ended', outcome: await endByWord(attempt, asked) };
    }
    if (asked.kind === 'answer') {
      const { state, handle, reason, ageMs = 0 } = asked.answer;
      switch (state) {
        case 'fenced':
        case 'void':
          return { kind: 'ended', outcome: endNoEffect(attempt, nothingRan.code, nothingRan.detail) };
        case 'spawn_failed':
          return { kind: 'ended', outcome: endNoEffect(attempt, 'spawn_failed', reason ?? nothingRan.detail) };
        case 'running':
        case 'exited':
          if (handle !== undefined) {
            attempt.handle = handle;
            return { kind: 'found', ageMs };
          }
          return { kind: 'ended', outcome: await endUnknown(attempt, 'lost', 'The agent names no process for it.') };
        case 'lost':
        case 'expired':
        case 'absent':
          return { kind: 'ended', outcome: await endUnknown(attempt, state, reason ?? `The agent says ${state}.`) };
        case 'pending':
          break;
      }
    }
    await clock.sleep(PENDING_PAUSE_MS, signal);
  }
}
