import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createExecuteActivities } from '../../activities/execute.ts';
import { createAgentClient } from '../../agent-client/agent-client.ts';
import type { ExecuteInput } from '../../contract/activity-interfaces.ts';
import type { CallOutcome } from '../../contract/calls.ts';
import { MemoryAgent } from '../fakes/memory-agent.ts';
import { countRuns, logged, makeAgentFolder } from '../fixtures/agent-process.ts';
import { postBody } from '../fixtures/post-body.ts';
import { executeInput } from '../unit/execute/execute-call.ts';
import { agentContract } from './agent.ts';

async function open() {
  const folder = makeAgentFolder();
  const agent = new MemoryAgent(folder.workspace);
  const socket = join(folder.root, 'memory.sock');
  await agent.listen(socket);
  const client = createAgentClient({ address: `unix:${socket}` });
  onTestFinished(async () => {
    await client.close();
    await agent.close();
  });
  return { client, target: agent.target, folder, post: (verb: string, body: string) => postBody(socket, verb, body) };
}

agentContract('the agent in memory', open);

test('E15: against it execute gives real ends: output, exit codes, a time-out with a handle, each of one run', async () => {
  const { client, target, folder } = await open();
  const { execute } = createExecuteActivities({ client });
  const run = (key: string, command: string, timeoutSeconds = 20): Promise<CallOutcome> => {
    const input = executeInput(
      { command: logged(folder, key, command), timeoutSeconds },
      { target, key: key as never },
    );
    return new MockActivityEnvironment({ heartbeatTimeoutMs: 2000 }).run<[ExecuteInput], CallOutcome, typeof execute>(
      execute,
      input,
    );
  };
  const [failed, late, again] = await Promise.all([
    run('1-failed', 'echo out; exit 3'),
    run('2-late', 'echo soon; sleep 30', 1),
    run('1-failed', 'echo out; exit 3'),
  ]);
  expect(failed).toMatchObject({ status: 'exited', exit: { code: 3 }, text: expect.stringMatching(/^out\n\[exit 3/) });
  expect(again.text.replace(/[\d.]+ s/, '')).toBe(failed.text.replace(/[\d.]+ s/, ''));
  expect(late).toMatchObject({ status: 'detached', evidence: { code: 'budget' }, handle: expect.any(String) });
  expect([countRuns(folder, '1-failed'), countRuns(folder, '2-late')]).toEqual([1, 1]);
});
