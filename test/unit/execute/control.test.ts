import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAgentClient } from '../../../agent-client/agent-client.ts';
import { createControlActivities } from '../../../activities/control-activities.ts';
import type {
  AgentDescription,
  CancelCallInput,
  CancelCallResult,
  DescribeAgentInput,
} from '../../../contract/activity-interfaces.ts';
import type { AgentId, JournalId } from '../../../contract/ids.ts';
import { SCRIPTED_TARGET, startScriptedAgent } from '../../fakes/scripted-agent.ts';
import type { AgentRequest, Reply } from '../../fakes/scripted-agent.ts';
import { byVerb, executeInput, exited, outputAnswer, STARTED } from './execute-call.ts';

const INFO = {
  version: '1',
  nodeVersion: '24',
  pid: 1,
  workspace: '/w',
  ready: true,
  tree: 'group',
  limits: {},
  counts: { open: 0, calls: 0 },
  chatHighestMessageId: 12,
};
const { chatId, key, nonce } = executeInput();
const { agentId } = SCRIPTED_TARGET;

async function prepareControl(reply: (request: AgentRequest, count: number) => Reply) {
  const agent = await startScriptedAgent(reply);
  const client = createAgentClient({ address: agent.address });
  onTestFinished(async () => {
    await client.close();
    await agent.close();
  });
  const activities = createControlActivities({ client });
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  return {
    agent,
    describeAgent: () =>
      environment.run<[DescribeAgentInput], AgentDescription, typeof activities.describeAgent>(
        activities.describeAgent,
        { agentId, chatId },
      ),
    cancel: (mode: CancelCallInput['mode']) =>
      environment.run<[CancelCallInput], CancelCallResult, typeof activities.cancelCall>(activities.cancelCall, {
        chatId,
        key,
        nonce,
        target: SCRIPTED_TARGET,
        mode,
      }),
  };
}

describe('describeAgent', () => {
  test('tells the target, whether the agent is ready, and the highest message id it has seen', async () => {
    const control = await prepareControl(byVerb({ info: { answer: INFO } }));
    expect(await control.describeAgent()).toEqual({
      target: SCRIPTED_TARGET,
      incarnation: SCRIPTED_TARGET.incarnation,
      isReady: true,
      chatHighestMessageId: 12,
    });
  });

  test('fails for good when another agent answers, and for now when none does', async () => {
    const other = await prepareControl(
      byVerb({ info: { answer: INFO, by: { ...SCRIPTED_TARGET, agentId: 'agent-2' as AgentId } } }),
    );
    await expect(other.describeAgent()).rejects.toMatchObject({ type: 'agent_unreachable', nonRetryable: true });
    const none = await prepareControl(() => 'cut');
    await expect(none.describeAgent()).rejects.toMatchObject({ type: 'agent_unreachable', nonRetryable: false });
  });
});

describe('cancelCall', () => {
  const answer = (fields: object): Reply => ({ answer: { survivors: [], ...fields } });
  const process = { handle: 'p1', startedAt: STARTED.startedAt, ageMs: 10 };
  const killed = { code: 143, signal: 'SIGTERM', killedBy: 'cancel', durationMs: 900 };

  test.each<[string, object, string, string]>([
    ['fenced', { state: 'fenced' }, 'no_effect', 'fenced'],
    ['void', { state: 'void' }, 'no_effect', 'void'],
    ['spawn_failed', { state: 'spawn_failed', reason: 'no such folder' }, 'no_effect', 'spawn_failed'],
    ['running', { state: 'running', ...process }, 'running', 'budget'],
    ['exited', { state: 'exited', ...process, exit: { code: 4, durationMs: 900 } }, 'exited', 'exit'],
    ['exited by this cancel', { state: 'exited', ...process, exit: killed }, 'canceled', 'killed'],
    ['lost', { state: 'lost', ...process }, 'unknown', 'lost'],
    ['expired', { state: 'expired' }, 'unknown', 'expired'],
    ['absent', { state: 'absent' }, 'unknown', 'absent'],
  ])('a key that is %s is told as such', async (state, fields, status, code) => {
    const output = state.startsWith('exited') ? exited('part\n') : outputAnswer('part\n');
    const { cancel } = await prepareControl(byVerb({ cancel: answer(fields), output: { answer: output } }));
    const { outcome } = await cancel('kill');
    expect(outcome).toMatchObject({ status, evidence: { code, target: SCRIPTED_TARGET } });
    if (fields !== null && 'handle' in fields)
      expect(outcome).toMatchObject({ handle: 'p1', output: { totalBytes: 5 } });
    if ('handle' in fields) expect(outcome.text).toMatch(/^part\n\[/);
  });

  test('a real exit that won over the kill is the result', async () => {
    const fields = { state: 'exited', ...process, exit: { code: 0, durationMs: 900 } };
    const { cancel } = await prepareControl(byVerb({ cancel: answer(fields), output: { answer: exited('done') } }));
    expect((await cancel('kill')).outcome).toMatchObject({ status: 'exited', exit: { code: 0 } });
  });

  test('an exit is told also when its output can no longer be read', async () => {
    const fields = { state: 'exited', ...process, exit: { code: 0, durationMs: 900 } };
    const { cancel } = await prepareControl(byVerb({ cancel: answer(fields), output: { refuse: 'unknown_process' } }));
    expect((await cancel('fence')).outcome).toMatchObject({ status: 'exited', text: '[exit 0 after 0.9 s]' });
  });

  test('journal_replaced by the same agent is unknown; by another agent it proves nothing (part of L26)', async () => {
    const same = { ...SCRIPTED_TARGET, journalId: 'journal-2' as JournalId };
    const first = await prepareControl(byVerb({ cancel: { refuse: 'journal_replaced', by: same } }));
    expect((await first.cancel('fence')).outcome).toMatchObject({
      status: 'unknown',
      evidence: { code: 'journal_replaced', target: { journalId: 'journal-2' } },
    });
    const by = { ...SCRIPTED_TARGET, agentId: 'agent-2' as AgentId };
    const second = await prepareControl(byVerb({ cancel: { refuse: 'journal_replaced', by } }));
    await expect(second.cancel('fence')).rejects.toMatchObject({ type: 'journal_replaced', nonRetryable: false });
  });

  test('K5: a silent agent and a launch under way are asked again, not judged', async () => {
    const silent = await prepareControl(() => 'cut');
    await expect(silent.cancel('kill')).rejects.toMatchObject({ type: 'agent_unreachable', nonRetryable: false });
    const pending = await prepareControl(byVerb({ cancel: answer({ state: 'pending', reservedAgeMs: 3 }) }));
    await expect(pending.cancel('kill')).rejects.toMatchObject({ type: 'start_pending', nonRetryable: false });
  });
});
