import { request } from 'node:http';
import { join } from 'node:path';
import { AgentProcess, makeAgentFolder } from '../fixtures/agent-process.ts';
import { agentContract } from './agent.ts';

agentContract('the real agent', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  return {
    client: agent.client,
    target: await agent.target(),
    folder,
    post: (verb, body) => post(join(folder.state, 'agent.sock'), verb, body),
  };
});

function post(socketPath: string, verb: string, body: string): Promise<{ status: number; answer: object }> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path: `/v1/${verb}`, method: 'POST' }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, answer: JSON.parse(text) as object }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
