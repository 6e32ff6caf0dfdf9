/** The ends of a call that are no exit: refused, unknown, detached. */
import { AgentError, AgentUnreachable } from '../../agent-client/agent-errors.ts';
import type { CallOutcome, EvidenceCode } from '../../contract/calls.ts';
import { PRESENTED_HEAD_BYTES, PRESENTED_TAIL_BYTES } from '../../contract/limits.ts';
import type { OutputAnswer } from '../../contract/wire/output.ts';
import type { Asked, Attempt } from './attempt.ts';
import { buildEndedOutcome, buildOutcome, readExit } from './build-outcome.ts';

/** What `output` is asked for: just what the model will read. */
export const VIEW = { headBytes: PRESENTED_HEAD_BYTES, tailBytes: PRESENTED_TAIL_BYTES };

/** A refusal or a silence that ends the call. */
export function endByWord(
  attempt: Attempt,
  asked: Exclude<Asked<unknown>, { kind: 'answer' }>,
): Promise<CallOutcome> | CallOutcome {
  if (asked.kind === 'silence') {
    const detail = `The agent was silent for ${Math.round(attempt.window.awayMs / 1000)} s (${asked.reason}).`;
    return endUnknown(attempt, 'trust_window', detail);
  }
  const { word, error } = asked;
  if (word.kind !== 'end') return endUnknown(attempt, 'attempt_ended', error.message);
  if (word.status === 'unknown') return endUnknown(attempt, word.code, error.message);
  if (word.code === 'input_mismatch') {
    attempt.warn('defect: a call met another input under its own key', { code: error.code, reason: error.message });
  }
  return endNoEffect(attempt, word.code, error.message);
}

export function endNoEffect(attempt: Attempt, code: EvidenceCode, detail: string): CallOutcome {
  const { newestTarget: target, input } = attempt;
  return buildOutcome({ status: 'no_effect', code, detail, target, request: input.request });
}

/** With the output so far where the agent still has it; one try, since the end is certain without it. */
export async function endUnknown(
  attempt: Attempt,
  code: EvidenceCode,
  detail: string,
  known?: OutputAnswer,
): Promise<CallOutcome> {
  const output = known ?? (code === 'trust_window' ? undefined : await tryOutput(attempt));
  const { newestTarget: target, handle, input } = attempt;
  const startedAt = output?.startedAt;
  return buildOutcome({ status: 'unknown', code, detail, target, handle, startedAt, output, request: input.request });
}

/** Budget over and still running: the command lives on (C6). */
export function endDetached(attempt: Attempt, code: 'budget' | 'background', output: DetachedFacts): CallOutcome {
  const { newestTarget: target, handle, input } = attempt;
  const detail = code === 'background' ? 'Started in the background.' : budgetDetail(input.request.onTimeout);
  const { startedAt, answer } = output;
  const parts = { code, detail, target, handle, startedAt, output: answer, request: input.request };
  return buildOutcome({ ...parts, status: 'detached' });
}

function budgetDetail(onTimeout: 'detach' | 'kill'): string {
  if (onTimeout === 'kill') return 'The agent stopped it at its time limit, but not all of it has ended.';
  return 'It was not stopped.';
}

interface DetachedFacts {
  readonly startedAt: string;
  readonly answer?: OutputAnswer;
}

/** A process that ended, by whatever cause; undefined while it runs. */
export function endOfProcess(attempt: Attempt, answer: OutputAnswer): Promise<CallOutcome> | CallOutcome | undefined {
  if (answer.state === 'lost') {
    return endUnknown(attempt, 'lost', answer.reason ?? 'The keeper or the machine died with it.', answer);
  }
  if (answer.exit === undefined) return undefined;
  const { handle, startedAt } = answer;
  const { newestTarget: target, input } = attempt;
  const exit = readExit(answer.exit);
  return buildEndedOutcome({ exit, target, handle, startedAt, output: answer, request: input.request });
}

async function tryOutput(attempt: Attempt): Promise<OutputAnswer | undefined> {
  const { client, input, target, handle, signal } = attempt;
  if (handle === undefined) return undefined;
  try {
    return await client.output({ target, chatId: input.chatId, handle, view: VIEW, waitMs: 0 }, { signal });
  } catch (error) {
    if (error instanceof AgentError || error instanceof AgentUnreachable) return undefined;
    throw error;
  }
}
