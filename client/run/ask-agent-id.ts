/** Which agent a chat that begins here is bound to: asked, since a wiped or adopted one has another id. */
import { createAgentClient } from '../../agent-client/agent-client.ts';
import { CodedError } from '../../contract/failures.ts';
import type { AgentId } from '../../contract/ids.ts';

const ASK_AGENT_MS_MAX = 5000;

export async function askAgentId(address: string, token: string | undefined): Promise<AgentId> {
  const options = { address, answerMarginMs: ASK_AGENT_MS_MAX, ...(token !== undefined && { token }) };
  const client = createAgentClient(options);
  try {
    return (await client.info({})).agentId;
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    throw new CodedError(error.code, `the turn needs its agent: ${error.message}`);
  } finally {
    await client.close();
  }
}
