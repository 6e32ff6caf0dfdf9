/** The agent that a call belongs to, asked directly. Only the journal that took the call can tell of it (K5). */
import { createAgentClient } from '../../agent-client/agent-client.ts';
import type { AgentClient } from '../../agent-client/agent-client.ts';
import { CodedError } from '../../contract/failures.ts';
import type { ChatId, ExecutionKey, Nonce } from '../../contract/ids.ts';
import type { Target } from '../../contract/target.ts';
import { agentAt } from '../ask-agent.ts';
import type { StoredCall } from '../open-store.ts';

/** What names the call to its agent. */
export interface AgentCall {
  readonly client: AgentClient;
  readonly call: {
    readonly target: Target;
    readonly chatId: ChatId;
    readonly key: ExecutionKey;
    readonly nonce: Nonce;
  };
}

/** Throws `agent_unreachable`, or `configuration` when another agent is at that address. The caller closes `client`. */
export async function reachAgent(call: StoredCall, address: string, env: NodeJS.ProcessEnv): Promise<AgentCall> {
  const client = createAgentClient(agentAt(address, env));
  try {
    const { agentId, journalId, incarnation, sequence } = await client.info({});
    if (agentId !== call.agentId) {
      throw new CodedError(
        'configuration',
        `call ${call.key} belongs to agent ${call.agentId}; at ${address} is ${agentId}. Set LATCHKEY_AGENT_ADDRESS to the call's own.`,
      );
    }
    // A row without a target was never dispatched: what is asked now fences it at the journal that it would go to.
    const target = call.target ?? { agentId, journalId, incarnation, sequence };
    return { client, call: { target, chatId: call.chatId, key: call.key, nonce: call.nonce } };
  } catch (error) {
    await client.close();
    throw error;
  }
}
