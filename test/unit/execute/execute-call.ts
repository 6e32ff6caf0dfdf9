/** Runs `execute` in a mock activity context against a scripted agent. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { onTestFinished } from 'vitest';
import { createAgentClient } from '../../../agent-client/agent-client.ts';
import { createExecuteActivities } from '../../../activities/execute.ts';
import type { Clock } from '../../../activities/execute/clock.ts';
import type { SleepWatch } from '../../../activities/execute/sleep-watch.ts';
import { guardActivity } from '../../../workers/guard-activity.ts';
import type { ExecuteInput } from '../../../contract/activity-interfaces.ts';
import type { CallOutcome, ExecuteRequest } from '../../../contract/calls.ts';
import type { ChatId, ExecutionKey, Nonce } from '../../../contract/ids.ts';
import type { ExecuteHeartbeat } from '../../../contract/turn.ts';
import { SCRIPTED_TARGET, startScriptedAgent } from '../../fakes/scripted-agent.ts';
import type { AgentRequest, Reply } from '../../fakes/scripted-agent.ts';

export const KEY = '7-call_1' as ExecutionKey;

export function executeInput(request: Partial<ExecuteRequest> = {}, input: Partial<ExecuteInput> = {}): ExecuteInput {
  return {
    chatId: 'chat-1' as ChatId,
    key: KEY,
    nonce: 'nonce-1.0' as Nonce,
    target: SCRIPTED_TARGET,
    trustWindowMs: 60_000,
    request: { command: 'echo hi', timeoutSeconds: 120, background: false, onTimeout: 'detach', notes: [], ...request },
    ...input,
  };
}

export const STARTED = {
  outcome: 'started',
  handle: 'p1',
  state: 'running',
  startedAt: '2026-01-01T00:00:00.000Z',
  ageMs: 5,
  launches: 1,
};

/** An `output` answer; `text` is all there is. */
export function outputAnswer(text: string | Buffer, fields: object = {}, hasView = true): object {
  const bytes = Buffer.from(text);
  return {
    handle: 'p1',
    state: 'running',
    startedAt: STARTED.startedAt,
    ageMs: 50,
    total: bytes.length,
    dropped: [],
    outputOpen: false,
    outputIncomplete: false,
    lastLine: '',
    ...(hasView && { view: { head: bytes.toString('base64'), tail: '', omitted: 0 } }),
    ...fields,
  };
}

export function exited(text: string | Buffer, exit: object = {}): object {
  return outputAnswer(text, { state: 'exited', exit: { code: 0, durationMs: 1200, ...exit } });
}

/** Answers by verb; what a test doesn't script is an error of the test, told as a defect of the agent. */
export function byVerb(replies: Record<string, Reply | ((request: AgentRequest, count: number) => Reply)>) {
  return (request: AgentRequest, count: number): Reply => {
    const reply = replies[request.verb];
    if (reply === undefined) return { refuse: 'agent_defect', message: `no reply scripted for ${request.verb}` };
    return typeof reply === 'function' ? reply(request, count) : reply;
  };
}

export async function prepareExecute(
  reply: (request: AgentRequest, count: number) => Reply,
  options: {
    info?: object;
    clock?: Clock;
    answerMarginMs?: number;
    firstBeatMs?: number;
    sleepWatch?: SleepWatch;
  } = {},
) {
  const agent = await startScriptedAgent(reply);
  const client = createAgentClient({ address: agent.address, answerMarginMs: options.answerMarginMs ?? 5000 });
  const environment = new MockActivityEnvironment(
    { heartbeatTimeoutMs: 4000, ...options.info },
    { interceptors: [guardActivity], logger: new DefaultLogger('ERROR') },
  );
  const beats: ExecuteHeartbeat[] = [];
  environment.on('heartbeat', (details: ExecuteHeartbeat) => beats.push(details));
  // Beaten at once unless a test is about the silence of the first moment.
  const { clock, firstBeatMs = 0, sleepWatch } = options;
  const activities = createExecuteActivities({
    client,
    firstBeatMs,
    ...(clock && { clock }),
    ...(sleepWatch && { sleepWatch }),
  });
  onTestFinished(async () => {
    await client.close();
    await agent.close();
  });
  return {
    agent,
    client,
    environment,
    beats,
    run: (input: ExecuteInput = executeInput()) =>
      environment.run<[ExecuteInput], CallOutcome, typeof activities.execute>(activities.execute, input),
  };
}
