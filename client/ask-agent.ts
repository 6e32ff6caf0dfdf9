/** What an agent says of itself, asked once. */
import { createAgentClient } from '../agent-client/agent-client.ts';
import type { AgentClientOptions } from '../agent-client/agent-client.ts';
import { CodedError } from '../contract/failures.ts';
import type { AgentId } from '../contract/ids.ts';
import type { InfoAnswer } from '../contract/wire/info.ts';

export async function askAgent(options: AgentClientOptions): Promise<InfoAnswer> {
  const client = createAgentClient(options);
  try {
    return await client.info({});
  } finally {
    await client.close();
  }
}

/** Which agent a chat that begins here is bound to: asked, since a wiped or adopted one has another id. */
export async function askAgentId(options: AgentClientOptions): Promise<AgentId> {
  try {
    return (await askAgent(options)).agentId;
  } catch (error) {
    // An address that can't be one is nothing that an agent said.
    if (!(error instanceof CodedError) || error.code === 'configuration') throw error;
    throw new CodedError(error.code, `the turn needs its agent: ${error.message}`);
  }
}

/** The options of whoever asks an agent, by its address and what the environment has. */
export function agentAt(address: string, env: NodeJS.ProcessEnv): AgentClientOptions {
  const token = env['LATCHKEY_AGENT_TOKEN'] || undefined;
  return { address, ...(token !== undefined && { token }) };
}
