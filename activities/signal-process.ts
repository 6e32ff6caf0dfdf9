import { Context } from '@temporalio/activity';
import { AgentError } from '../agent-client/agent-errors.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import { targetOf } from '../agent-client/read-answer.ts';
import type { SignalProcessInput } from '../contract/activity-interfaces.ts';
import type { CallOutcome } from '../contract/calls.ts';
import { sendingIdOf } from '../contract/execution-key.ts';
import { asFailure } from './describe-agent.ts';
import { wordOf } from './execute/agent-word.ts';
import { faultPoint } from './fault-points.ts';
import { presentRefusedSignal, presentSignal } from './presentation/present-signal.ts';

/**
 * Sends the signal of a call. Every try goes by the same id, which its agent sends once (I07); a value is the word of
 * the target's journal, and a failure proves nothing (K5).
 */
export async function signalProcess(client: AgentClient, input: SignalProcessInput): Promise<CallOutcome> {
  try {
    const outcome = await askToSend(client, input);
    faultPoint('signal-before-report');
    return outcome;
  } catch (error) {
    return refusedOutcome(error, input);
  }
}

/**
 * Makes sure that the signal isn't sent from now on, and tells whether it was (K7). The second question sends nothing:
 * a sending that was recorded is told, any other meets the fence.
 */
export async function fenceSending(client: AgentClient, input: SignalProcessInput): Promise<CallOutcome> {
  const { chatId, nonce, target } = input;
  const { cancellationSignal: signal } = Context.current();
  try {
    const fence = await client.cancel({ target, chatId, key: sendingIdOf(input), nonce, mode: 'fence' }, { signal });
    if (fence.state === 'fenced') return await askToSend(client, input);
    // No fence was set, so asking could send it: the agent keeps nothing of calls that are so old.
    const detail = "The agent's record of this call is older than what it keeps";
    return presentRefusedSignal({ status: 'unknown', code: 'expired', detail, target: targetOf(fence) }, input.request);
  } catch (error) {
    return refusedOutcome(error, input);
  }
}

async function askToSend(client: AgentClient, input: SignalProcessInput): Promise<CallOutcome> {
  const { chatId, target, request } = input;
  const { handle, signal } = request;
  const id = sendingIdOf(input);
  const { cancellationSignal } = Context.current();
  const answer = await client.signal({ target, chatId, handle, signal, id }, { signal: cancellationSignal });
  return presentSignal(answer, request);
}

function refusedOutcome(error: unknown, { target, request }: SignalProcessInput): CallOutcome {
  if (!(error instanceof AgentError)) throw asFailure(error);
  const word = wordOf(error, target);
  if (word.kind !== 'end') throw asFailure(error);
  // A4: a foreign process is as unknown as none at all; to either nothing was sent.
  const end = error.code === 'unknown_process' ? ({ status: 'no_effect', code: 'invalid_arguments' } as const) : word;
  const { status, code } = end;
  return presentRefusedSignal({ status, code, detail: error.message, target: error.answeredBy }, request);
}
