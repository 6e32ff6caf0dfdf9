import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createControlActivities } from '../../../activities/control-activities.ts';
import { createAgentClient } from '../../../agent-client/agent-client.ts';
import type { CancelCallInput, CancelCallResult, SignalProcessInput } from '../../../contract/activity-interfaces.ts';
import type { CallOutcome, SendSignalRequest } from '../../../contract/calls.ts';
import type { ExecutionKey, Handle, JournalId, Nonce } from '../../../contract/ids.ts';
import { applyToLedger, openEntry } from '../../../workflows/ledger.ts';
import { SCRIPTED_TARGET, startScriptedAgent } from '../../fakes/scripted-agent.ts';
import type { AgentRequest, Reply } from '../../fakes/scripted-agent.ts';
import { byVerb, executeInput, KEY } from './execute-call.ts';

const { chatId, nonce } = executeInput();
const request: SendSignalRequest = { verb: 'signal', handle: 'p3' as Handle, signal: 'SIGTERM' };
const INPUT: SignalProcessInput = { chatId, key: KEY, nonce, target: SCRIPTED_TARGET, request };

async function prepare(reply: (request: AgentRequest, count: number) => Reply) {
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
    send: (input = INPUT) =>
      environment.run<[SignalProcessInput], CallOutcome, typeof activities.signalProcess>(
        activities.signalProcess,
        input,
      ),
    fence: async () => {
      const asked: CancelCallInput = {
        chatId,
        key: KEY,
        nonce,
        target: SCRIPTED_TARGET,
        mode: 'kill',
        sending: request,
      };
      const { outcome } = await environment.run<[CancelCallInput], CancelCallResult, typeof activities.cancelCall>(
        activities.cancelCall,
        asked,
      );
      return outcome;
    },
  };
}

const answer = (fields: object): Reply => ({ answer: { state: 'running', survivors: [], ...fields } });
const KILLED = { state: 'exited', exit: { code: 143, signal: 'SIGTERM', killedBy: 'signal', durationMs: 1200 } };

describe('signalProcess', () => {
  test.each([
    [{ outcome: 'sent' }, 'exited by signalled', '[SIGTERM was sent to process p3. The process is running]'],
    [
      { outcome: 'sent', ...KILLED },
      'exited by signalled',
      '[SIGTERM was sent to process p3. The process has ended: ended by a signal that this chat sent (exit 143, SIGTERM) after 1.2 s]',
    ],
    [
      { outcome: 'sent', survivors: [{ pid: 7, name: 'make' }] },
      'exited by signalled',
      /still alive .*: make \(7\)\]$/,
    ],
    [{ outcome: 'repeated' }, 'exited by signalled', /an earlier try of this call had sent it, and it was sent once/],
    [{ outcome: 'ended', ...KILLED }, 'no_effect by void', /^\[nothing was sent: process p3 has ended: /],
    [{ outcome: 'ended', state: 'lost' }, 'no_effect by void', /^\[nothing was sent: process p3 is lost: /],
    [{ outcome: 'in_doubt' }, 'unknown by signalled', /it may have arrived or not, and it is not sent again/],
  ])('%j is %s, an end that the ledger takes', async (fields, end, text) => {
    const { send } = await prepare(byVerb({ signal: answer(fields) }));
    const outcome = await send();
    expect(`${outcome.status} by ${outcome.evidence.code}`).toBe(end);
    if (typeof text === 'string') expect(outcome.text).toBe(text);
    else expect(outcome.text).toMatch(text);
    const entry = openEntry({ status: 'reserved', target: SCRIPTED_TARGET });
    expect(applyToLedger(entry, { type: 'resolved', ...outcome })).toMatchObject({ isLegal: true });
  });

  describe('I07: each try of a call goes by one id, and another call that has its key by another', () => {
    test('I02: each try of a call goes by one id, and another call that has its key by another', async () => {
      const { agent, send } = await prepare(byVerb({ signal: answer({ outcome: 'sent' }) }));
      await send();
      await send();
      await send({ ...INPUT, nonce: 'nonce-2.0' as Nonce });
      await send({ ...INPUT, key: '8-call_1' as ExecutionKey });
      const ids = agent.requests.map(({ body }) => body['id']);
      expect(ids).toEqual(['7-signal.nonce-1.0', '7-signal.nonce-1.0', '7-signal.nonce-2.0', '8-signal.nonce-1.0']);
    });
  });

  test.each([
    [
      'unknown_process',
      'no_effect by invalid_arguments',
      /^\[nothing was sent to process p3: .*process_list tells which/,
    ],
    ['canceled', 'no_effect by fenced', /^\[nothing was sent to process p3/],
    ['journal_replaced', 'unknown by journal_replaced', /can not be said whether SIGTERM was sent to process p3/],
  ] as const)('a refusal of its journal (%s) is %s', async (code, end, text) => {
    const { send } = await prepare(() => ({ refuse: code, message: 'because' }));
    const outcome = await send();
    expect(`${outcome.status} by ${outcome.evidence.code}`).toBe(end);
    expect(outcome.text).toMatch(text);
  });

  test('K5: a silence, and the word of another journal, end nothing', async () => {
    const cut = await prepare(() => 'cut');
    await expect(cut.send()).rejects.toMatchObject({ type: 'agent_unreachable', nonRetryable: false });
    const by = { ...SCRIPTED_TARGET, journalId: 'journal-2' as JournalId };
    const other = await prepare(() => ({ refuse: 'canceled', by }));
    await expect(other.send()).rejects.toMatchObject({ type: 'canceled' });
  });
});

describe('cancelCall of a signal', () => {
  test('K7: fences the sending, never the process, and tells what became of it', async () => {
    const fenced = answer({ state: 'fenced' });
    const sent = await prepare(byVerb({ cancel: fenced, signal: answer({ outcome: 'repeated' }) }));
    expect(await sent.fence()).toMatchObject({ status: 'exited', evidence: { code: 'signalled' } });
    const [cancel] = sent.agent.requests;
    expect(cancel).toMatchObject({ verb: 'cancel', body: { key: '7-signal.nonce-1.0', nonce, mode: 'fence' } });

    const never = await prepare(byVerb({ cancel: fenced, signal: { refuse: 'canceled' } }));
    expect(await never.fence()).toMatchObject({ status: 'no_effect', evidence: { code: 'fenced' } });
    expect(never.agent.requests.map(({ verb }) => verb)).toEqual(['cancel', 'signal']);
  });

  test('K7: asks nothing that could send while the fence is not there', async () => {
    const cut = await prepare(() => 'cut');
    await expect(cut.fence()).rejects.toMatchObject({ type: 'agent_unreachable' });
    const old = await prepare(byVerb({ cancel: answer({ state: 'expired' }) }));
    expect(await old.fence()).toMatchObject({ status: 'unknown', evidence: { code: 'expired' } });
    for (const { agent } of [cut, old]) expect(agent.requests.map(({ verb }) => verb)).toEqual(['cancel']);
  });
});
