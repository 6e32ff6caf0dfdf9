/**
 * One attempt at one call: what it holds, and how it asks its agent.
 *
 * Nothing of it is shared: several attempts of one key may run in one process (shared/notes/temporal-live.md A5).
 */
import { AgentError, AgentUnreachable } from '../../agent-client/agent-errors.ts';
import type { AgentClient } from '../../agent-client/agent-client.ts';
import { targetOf } from '../../agent-client/read-answer.ts';
import type { ExecuteInput } from '../../contract/activity-interfaces.ts';
import type { Handle } from '../../contract/ids.ts';
import type { Target } from '../../contract/target.ts';
import { wordOf } from './agent-word.ts';
import type { AgentWord } from './agent-word.ts';
import type { Clock } from './clock.ts';
import type { Pulse } from './pulse.ts';
import type { TrustWindow } from './trust-window.ts';

const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 1000;

export interface Attempt {
  readonly input: ExecuteInput;
  readonly client: AgentClient;
  readonly clock: Clock;
  readonly pulse: Pulse;
  readonly window: TrustWindow;
  readonly signal: AbortSignal;
  readonly warn: (message: string, attributes: Record<string, unknown>) => void;
  /** How long one request may wait at the agent: shorter than the heartbeat time-out. */
  readonly waitMs: number;
  /** The recorded target; only its sequence rises, with the answers of its own incarnation. */
  target: Target;
  /** As of the newest answer. */
  newestTarget: Target;
  /** An answer of this journal to this key gave it: from then on the key exists (K5). */
  handle: Handle | undefined;
  /** Wall clock, ISO 8601; undefined while the agent answers. */
  awaySince: string | undefined;
}

export type Asked<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'refusal'; readonly word: Exclude<AgentWord, { kind: 'nothing' }>; readonly error: AgentError }
  /** No try of the whole trust window brought the journal's word. */
  | { readonly kind: 'silence'; readonly reason: string };

/**
 * Sends until the call's own journal answers, or the trust window is over. Repeating is safe because every request
 * carries the key. Cancelled: throws at once.
 */
export async function ask<Answer extends Target>(
  attempt: Attempt,
  send: () => Promise<Answer>,
): Promise<Asked<Answer>> {
  for (let pauseMs = RETRY_MS_MIN; ; pauseMs = Math.min(2 * pauseMs, RETRY_MS_MAX)) {
    try {
      const answer = await send();
      heard(attempt, answer);
      return { kind: 'answer', answer };
    } catch (error) {
      if (!(error instanceof AgentError) && !(error instanceof AgentUnreachable)) throw error;
      const word = error instanceof AgentError ? wordOf(error, attempt.target) : undefined;
      if (error instanceof AgentError && word !== undefined && word.kind !== 'nothing') {
        heard(attempt, error.answeredBy);
        return { kind: 'refusal', word, error };
      }
      const isOver = attempt.window.fail(attempt.clock.bootMs());
      tellAway(attempt, error.message);
      if (isOver) return { kind: 'silence', reason: error.message };
    }
    await attempt.clock.sleep(pauseMs, attempt.signal);
  }
}

/** The target's sequence makes a journal that went back in time noticeable (I01), within one incarnation only. */
export function raiseSequence(target: Target, seen: Target): Target {
  const isSame = seen.journalId === target.journalId && seen.incarnation === target.incarnation;
  return isSame && seen.sequence > target.sequence ? { ...target, sequence: seen.sequence } : target;
}

function heard(attempt: Attempt, answeredBy: Target): void {
  attempt.newestTarget = targetOf(answeredBy);
  attempt.target = raiseSequence(attempt.target, answeredBy);
  attempt.window.answer();
  if (attempt.awaySince === undefined) return;
  attempt.awaySince = undefined;
  const phase = attempt.handle === undefined ? 'dispatching' : 'running';
  attempt.pulse.tell({ phase, unreachableSince: undefined, unreachableMs: undefined });
}

function tellAway(attempt: Attempt, reason: string): void {
  if (attempt.awaySince === undefined) {
    attempt.awaySince = new Date(attempt.clock.wallMs()).toISOString();
    attempt.warn('the agent does not answer; the command, if it runs, is left alone', { reason });
  }
  attempt.pulse.tell({
    phase: 'unreachable',
    unreachableSince: attempt.awaySince,
    unreachableMs: attempt.window.awayMs,
  });
}
