import { Context } from '@temporalio/activity';
import { AgentError } from '../agent-client/agent-errors.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import { targetOf } from '../agent-client/read-answer.ts';
import type { CancelCallInput, CancelCallResult } from '../contract/activity-interfaces.ts';
import type { CallOutcome, EvidenceCode } from '../contract/calls.ts';
import { AGENT_WAIT_MS_MAX, KILL_GRACE_MS_DEFAULT } from '../contract/limits.ts';
import type { CancelAnswer } from '../contract/wire/cancel.ts';
import type { OutputAnswer } from '../contract/wire/output.ts';
import { asFailure } from './describe-agent.ts';
import { wordOf } from './execute/agent-word.ts';
import { buildEndedOutcome, buildOutcome, readExit } from './execute/build-outcome.ts';
import { VIEW } from './execute/endings.ts';
import { applicationFailure } from './failure.ts';
import { faultPoint } from './fault-points.ts';
import { fenceSending } from './signal-process.ts';

/** Past TERM and grace: KILL, and the end of what it hit. Also how long the output of an ended command may settle. */
const KILL_MARGIN_MS = 3000;
const FENCE_WAIT_MS = 2000;
/** Within the grace of an interrupt, with the kill before it. */
const OUTPUT_MS_MAX = KILL_MARGIN_MS + 1000;
const LATE_OUTPUT = { notes: ['its output could not be read in time; process_output may still show it'] };

/**
 * The only way to stop a command (C6): `kill` on purpose, by an interrupt, an edit or an operator; `fence` to make sure
 * of a key without touching what runs (K7). A value is the journal's own word; a failure proves nothing.
 */
export async function cancelCall(client: AgentClient, input: CancelCallInput): Promise<CancelCallResult> {
  const { chatId, key, nonce, target, mode, sending, graceMs = KILL_GRACE_MS_DEFAULT } = input;
  faultPoint('cancel-before-send');
  if (sending !== undefined) {
    return { outcome: await fenceSending(client, { chatId, key, nonce, target, request: sending }) };
  }
  const { cancellationSignal: signal } = Context.current();
  const waitMs = mode === 'fence' ? FENCE_WAIT_MS : Math.min(graceMs + KILL_MARGIN_MS, AGENT_WAIT_MS_MAX);
  try {
    const answer = await client.cancel({ target, chatId, key, nonce, mode, graceMs, waitMs }, { signal });
    const output = await readOutput(client, input, answer, signal);
    faultPoint('cancel-before-report');
    return { outcome: outcomeOf(answer, output) };
  } catch (error) {
    const word = error instanceof AgentError ? wordOf(error, target) : undefined;
    if (!(error instanceof AgentError) || word === undefined) throw asFailure(error);
    if (word.kind === 'refused') throw asFailure(error);
    if (word.kind !== 'end') throw applicationFailure(error.code, error.message, { retryable: true });
    const { status, code } = word;
    return { outcome: buildOutcome({ status, code, detail: error.message, target: error.answeredBy }) };
  }
}

function outcomeOf(answer: CancelAnswer, read: OutputAnswer | 'late' | undefined): CancelCallResult['outcome'] {
  const output = read === 'late' ? undefined : read;
  const { state, handle, startedAt } = answer;
  const common = { target: targetOf(answer), handle, startedAt, output };
  const unknown = (code: EvidenceCode, detail: string): CallOutcome =>
    buildOutcome({ ...common, status: 'unknown', code, detail: answer.reason ?? detail });
  const nothingRan = (code: EvidenceCode, detail: string): CallOutcome =>
    buildOutcome({ target: common.target, status: 'no_effect', code, detail: answer.reason ?? detail });
  switch (state) {
    case 'running':
      return buildOutcome({ ...common, status: 'running', code: 'budget', detail: describeRunning(answer) });
    case 'exited':
      if (answer.exit === undefined) return unknown('lost', 'The agent has no exit of it.');
      return buildEndedOutcome({ ...common, exit: readExit(answer.exit), ...(read === 'late' && LATE_OUTPUT) });
    case 'fenced':
      return nothingRan('fenced', 'The call was fenced before it ran and never will run.');
    case 'void':
      return nothingRan('void', 'The command was never started.');
    case 'spawn_failed':
      return nothingRan('spawn_failed', 'The command could not be started.');
    case 'lost':
      return unknown('lost', 'The keeper or the machine died with it.');
    case 'expired':
      return unknown('expired', "The agent's record of this call is older than what it keeps.");
    case 'absent':
      return unknown('absent', 'The journal that had taken the call does not know it any more.');
    case 'pending':
      throw applicationFailure('start_pending', 'the launch is still under way.', { retryable: true });
  }
}

function describeRunning({ survivors }: CancelAnswer): string {
  if (survivors.length === 0) return 'The command still runs.';
  return `Still alive: ${survivors.map(({ pid, name }) => `${name} (${pid})`).join(', ')}.`;
}

/** Waits a little for an ended command's output to be complete; what still runs shows what it has so far. */
async function readOutput(
  client: AgentClient,
  { chatId, target }: CancelCallInput,
  { state, handle }: CancelAnswer,
  signal: AbortSignal,
): Promise<OutputAnswer | 'late' | undefined> {
  if (handle === undefined || (state !== 'exited' && state !== 'running' && state !== 'lost')) return undefined;
  const request = { target, chatId, handle };
  // The agent waits for a reader that hangs for longer than whoever asks for the call's end does.
  const late = AbortSignal.timeout(OUTPUT_MS_MAX);
  const options = { signal: AbortSignal.any([signal, late]) };
  try {
    if (state === 'exited') {
      const view = { ...VIEW, onlyWhenEnded: true };
      const settled = await client.output({ ...request, view, waitMs: KILL_MARGIN_MS }, options);
      if (settled.view !== undefined) return settled;
    }
    return await client.output({ ...request, view: VIEW, waitMs: 0 }, options);
  } catch (error) {
    // The cancel's answer stands; only the output can't be told with it.
    if (error instanceof AgentError) return undefined;
    if (late.aborted && !signal.aborted) return 'late';
    throw error;
  }
}
