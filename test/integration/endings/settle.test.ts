import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import type { CancelCallInput, CancelCallResult } from '../../../contract/activity-interfaces.ts';
import type { ExecutionKey, Handle, Nonce } from '../../../contract/ids.ts';
import {
  RESOLVE_CALL_UPDATE,
  RETIRE_AGENT_SIGNAL,
  SETTLE_WORKFLOW_TYPE,
  settleWorkflowId,
} from '../../../contract/names.ts';
import type { ResolveCallAnswer, ResolveCallRequest } from '../../../contract/operator.ts';
import type { SettleInput } from '../../../contract/settle.ts';
import { outcomeOf, TurnWorld } from '../../fakes/turn-world.ts';
import { openBench } from '../../fixtures/turn-run.ts';
import { refusal } from '../../fixtures/turn-script.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

const KEY = '2-a' as ExecutionKey;
const AWAY = () => Promise.reject(Object.assign(new Error('connection refused'), { name: 'Away' }));
const RUNNING: CancelCallResult = {
  outcome: { status: 'running', evidence: { code: 'budget', detail: 'it runs' }, handle: 'p7' as Handle },
};

/** A world whose one call is committed, and the settle of that call. */
async function startSettle(
  cancelCall: (input: CancelCallInput, count: number) => Promise<CancelCallResult>,
  more: Partial<SettleInput> = {},
): Promise<{ world: TurnWorld; settle: WorkflowHandle }> {
  const world = new TurnWorld([[{ id: 'a' }]]);
  world.commit({
    chatId: world.chatId,
    turn: 1,
    step: 1,
    messageId: 2 as never,
    stepNonce: randomUUID(),
    agentId: world.agentId,
    model: 'scripted',
    showCommands: true,
  });
  world.row('a').outcome = outcomeOf('unknown', 'agent_silent');
  let count = 0;
  world.overrides.cancelCall = (input) => cancelCall(input, ++count);
  const input: SettleInput = {
    chatId: world.chatId,
    turn: 1,
    key: KEY,
    nonce: 'n.0' as Nonce,
    target: world.target(),
    summary: '$ echo a',
    mode: 'kill',
    cause: 'the turn was interrupted',
    settleForMs: 60_000,
    ...more,
  };
  const bench = await openBench(world);
  const settle = await bench.startWorkflow(SETTLE_WORKFLOW_TYPE, settleWorkflowId(world.chatId, KEY), input);
  return { world, settle };
}

function resolve(settle: WorkflowHandle, as: ResolveCallRequest['as']): Promise<ResolveCallAnswer> {
  const request = { key: KEY, as, who: 'Ann', why: 'I looked', ...(as === 'exit' ? { exitCode: 0 } : {}) };
  return settle.executeUpdate<ResolveCallAnswer, [ResolveCallRequest]>(RESOLVE_CALL_UPDATE, { args: [request] });
}

describe("a settle ends by its agent's word", () => {
  test('which is stored as the later truth of the call', async () => {
    const { world, settle } = await startSettle((_input, count) =>
      count < 3 ? AWAY() : Promise.resolve({ outcome: outcomeOf('canceled', 'killed') }),
    );
    expect(await settle.result()).toMatchObject({ status: 'canceled', evidence: { code: 'killed' } });
    expect(world.row('a').truth?.status).toBe('canceled');
  });

  test('L26: that its journal is gone ends it as unknown at once', async () => {
    const { world, settle } = await startSettle(async () => ({ outcome: outcomeOf('unknown', 'journal_replaced') }));
    expect(await settle.result()).toMatchObject({ status: 'unknown', evidence: { code: 'journal_replaced' } });
    expect(world.entries('cancelCall')).toHaveLength(1);
  });

  test('what never ran is canceled after an interrupt, and had no effect otherwise', async () => {
    const fenced = async () => ({ outcome: outcomeOf('no_effect', 'fenced') });
    const [killed, lost] = await Promise.all([startSettle(fenced), startSettle(fenced, { mode: 'fence' })]);
    expect(await killed.settle.result()).toMatchObject({ status: 'canceled' });
    expect(await lost.settle.result()).toMatchObject({ status: 'no_effect' });
  });

  test('C6: of a command that is only asked about, and that runs, it says so and leaves it alone', async () => {
    const { world, settle } = await startSettle(async () => RUNNING, { mode: 'fence' });
    expect(await settle.result()).toMatchObject({ status: 'detached' });
    expect(world.row('a').truth).toMatchObject({ status: 'detached', handle: 'p7' });
    expect(world.entries('cancelCall')).toEqual([`cancelCall fence ${KEY}`]);
  });

  test('a command that survives its kill is killed again until it has ended', async () => {
    const { world, settle } = await startSettle(async (_input, count) =>
      count === 1 ? RUNNING : { outcome: outcomeOf('canceled', 'killed') },
    );
    expect(await settle.result()).toMatchObject({ status: 'canceled' });
    expect(world.entries('cancelCall kill')).toHaveLength(2);
  });
});

describe('a settle whose agent says nothing', () => {
  test('gives up as unknown when its time is over', async () => {
    const { world, settle } = await startSettle(AWAY, { settleForMs: 1500 });
    expect(await settle.result()).toMatchObject({ status: 'unknown', evidence: { code: 'settle_gave_up' } });
    expect(world.row('a').truth?.status).toBe('unknown');
  });

  test('says in its details what is asked, and its tries cost no history', async () => {
    const { world, settle } = await startSettle(AWAY);
    await waitUntil('three tries', () => world.entries('cancelCall').length >= 3);
    const metadata = await settle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    expect(metadata.currentDetails).toContain(`kill at agent ${world.agentId}`);
    expect((await settle.fetchHistory()).events?.length).toBeLessThan(10);
  });

  test('ends as unknown when its agent is retired', async () => {
    const { settle } = await startSettle(AWAY);
    await settle.signal(RETIRE_AGENT_SIGNAL, { who: 'Ann', why: 'the machine was scrapped' });
    expect(await settle.result()).toMatchObject({
      status: 'unknown',
      evidence: { code: 'operator', detail: expect.stringContaining('Ann') as string },
    });
  });

  test('ends as unknown when it is cancelled', async () => {
    const { world, settle } = await startSettle(AWAY);
    await settle.cancel();
    expect(await settle.result()).toMatchObject({ status: 'unknown', evidence: { code: 'operator' } });
    expect(world.row('a').truth?.status).toBe('unknown');
  });

  test('K7: refuses "not run" without a fence, and takes any other word of a person', async () => {
    const { settle } = await startSettle(AWAY);
    await expect(resolve(settle, 'not_run')).rejects.toMatchObject({ cause: { type: 'not_proven' } });
    expect(await resolve(settle, 'exit')).toMatchObject({
      isOperatorsWord: true,
      status: 'exited',
      message: expect.stringContaining('is not asked again') as string,
    });
    expect(await settle.result()).toMatchObject({ status: 'exited', evidence: { code: 'operator' } });
  });

  test('asks again later also when the question itself was refused', async () => {
    const { settle } = await startSettle(async (_input, count) => {
      if (count === 1) throw refusal('bad_request');
      return { outcome: outcomeOf('exited', 'exit') };
    });
    expect(await settle.result()).toMatchObject({ status: 'exited' });
  });
});
