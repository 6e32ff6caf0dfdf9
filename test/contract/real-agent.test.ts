import { join } from 'node:path';
import { AgentProcess, makeAgentFolder } from '../fixtures/agent-process.ts';
import { postBody } from '../fixtures/post-body.ts';
import { agentContract } from './agent.ts';

agentContract('the real agent', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  return {
    client: agent.client,
    target: await agent.target(),
    folder,
    post: (verb, body) => postBody(join(folder.state, 'agent.sock'), verb, body),
  };
});
