import { Context } from '@temporalio/activity';
import { AgentError, AgentUnreachable } from '../agent-client/agent-errors.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import { targetOf } from '../agent-client/read-answer.ts';
import type { AgentDescription, DescribeAgentInput } from '../contract/activity-interfaces.ts';
import { FAILURES } from '../contract/failures.ts';
import { applicationFailure } from './failure.ts';
import { faultPoint } from './fault-points.ts';

/** Where a call would be dispatched to right now. Fails, retryable while the agent may come back, when that isn't known. */
export async function describeAgent(client: AgentClient, input: DescribeAgentInput): Promise<AgentDescription> {
  const { agentId, chatId } = input;
  const info = await client
    .info({ chatId }, { signal: Context.current().cancellationSignal })
    .catch((error: unknown) => {
      throw asFailure(error);
    });
  if (info.agentId !== agentId) {
    // Wiped or adopted: this queue is kept for what was dispatched before, but nothing new can go to that agent.
    const message = `agent ${agentId} is not here any more: agent ${info.agentId} answers at its address.`;
    throw applicationFailure('agent_unreachable', message);
  }
  faultPoint('describe-before-report');
  return {
    target: targetOf(info),
    incarnation: info.incarnation,
    isReady: info.ready,
    chatHighestMessageId: info.chatHighestMessageId ?? 0,
  };
}

/** The agent's refusals and silences as failures of an activity; a foreign error (a cancellation) as it is. */
export function asFailure(error: unknown): unknown {
  if (error instanceof AgentUnreachable) return applicationFailure(error.code, error.message, { retryable: true });
  if (!(error instanceof AgentError)) return error;
  const isFault = FAILURES[error.code].kind === 'fault';
  return applicationFailure(error.code, error.message, { retryable: isFault });
}
