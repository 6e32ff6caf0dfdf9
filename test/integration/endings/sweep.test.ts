import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { CancelCallResult, GenerateStepInput } from '../../../contract/activity-interfaces.ts';
import type { ExecutionKey, Handle } from '../../../contract/ids.ts';
import { noticeWorkflowId, SWEEP_WORKFLOW_TYPE } from '../../../contract/names.ts';
import type { SweepResult } from '../../../contract/sweep.ts';
import { outcomeOf, TurnWorld } from '../../fakes/turn-world.ts';
import type { ScriptedCall } from '../../fakes/turn-world.ts';
import { openBench } from '../../fixtures/turn-run.ts';
import { refusal } from '../../fixtures/turn-script.ts';

/** A world whose turn was lost after it had dispatched these calls. */
function lostTurn(scripted: readonly ScriptedCall[]): TurnWorld {
  const world = new TurnWorld([scripted]);
  const { chatId, agentId } = world;
  const target = world.target();
  const input = { chatId, turn: 1, step: 1, messageId: 2, stepNonce: randomUUID(), agentId, target, targetAgeMs: 0 };
  const { calls } = world.commit({ ...input, model: 'scripted', showCommands: true } as GenerateStepInput);
  world.overrides.findStrays = async () => ({ turns: [{ chatId, turn: 1 }], calls: [], chats: [] });
  world.overrides.closeStrayTurn = async () => ({ openCalls: calls });
  return world;
}

async function sweep(world: TurnWorld): Promise<SweepResult> {
  const bench = await openBench(world);
  const handle = await bench.startWorkflow(SWEEP_WORKFLOW_TYPE, `sweep-${randomUUID()}`, { askForMs: 2000 });
  return (await handle.result()) as SweepResult;
}

test('a turn that was terminated is closed: each call gets its end from its agent, by a fence and never by a kill', async () => {
  const world = lostTurn([
    { id: 'exited', withTarget: true },
    { id: 'unseen', withTarget: true },
    { id: 'runs', withTarget: true },
  ]);
  const says: Record<string, CancelCallResult['outcome']> = {
    '2-exited': outcomeOf('exited', 'exit'),
    '2-unseen': outcomeOf('no_effect', 'fenced'),
    '2-runs': { status: 'running', evidence: { code: 'budget', detail: 'it runs' }, handle: 'p7' as Handle },
  };
  world.overrides.cancelCall = async ({ key }) => ({ outcome: says[key] ?? outcomeOf('unknown', 'lost') });
  expect(await sweep(world)).toEqual({ turnsClosed: 1, settlesStarted: 0, chatsWoken: 0 });
  expect(['exited', 'unseen', 'runs'].map((id) => world.end(id))).toEqual([
    'exited by exit',
    'no_effect by fenced',
    'detached by attempt_ended',
  ]);
  expect(world.entries('cancelCall kill')).toEqual([]);
  expect(world.ended).toBe('failed: turn_lost');
});

test('a call whose agent is silent becomes unknown, with a settle that goes on asking', async () => {
  const world = lostTurn([{ id: 'a', withTarget: true }]);
  world.overrides.cancelCall = () => Promise.reject(refusal('agent_unreachable'));
  const bench = await openBench(world);
  const handle = await bench.startWorkflow(SWEEP_WORKFLOW_TYPE, `sweep-${randomUUID()}`, { askForMs: 1000 });
  expect(await handle.result()).toMatchObject({ turnsClosed: 1 });
  expect(world.end('a')).toBe('unknown by attempt_ended');
  const settle = bench.settleOf('2-a' as ExecutionKey);
  expect((await settle.describe()).status.name).toBe('RUNNING');
  await settle.terminate();
});

test('others are told of the end of a lost turn once, however often it is swept', async () => {
  const world = lostTurn([]);
  world.overrides.endTurn = async () => ({ isNoticeWanted: true });
  const bench = await openBench(world);
  for (const name of ['one', 'two']) {
    const handle = await bench.startWorkflow(SWEEP_WORKFLOW_TYPE, `sweep-${name}-${randomUUID()}`, {});
    expect(await handle.result()).toMatchObject({ turnsClosed: 1 });
    const notice = bench.client.workflow.getHandle(noticeWorkflowId(world.chatId, 1));
    expect(await notice.result()).toEqual({ state: 'delivered', status: 204 });
  }
  expect(world.entries('deliverNotice')).toHaveLength(1);
});

test('a turn whose end an interrupt had asked for is killed, as it was asked', async () => {
  const world = lostTurn([{ id: 'a', withTarget: true, status: 'cancel_requested' }]);
  world.overrides.cancelCall = async () => ({ outcome: outcomeOf('canceled', 'killed') });
  await sweep(world);
  expect(world.entries('cancelCall')).toEqual(['cancelCall kill 2-a']);
});

test('a call that is still asked for, and whose settle is gone, gets another one', async () => {
  const world = lostTurn([{ id: 'a', withTarget: true, status: 'cancel_requested' }]);
  const { chatId } = world;
  const { call } = world.row('a');
  world.overrides.findStrays = async () => ({ turns: [], calls: [{ chatId, turn: 1, call }], chats: [] });
  world.row('a').outcome = outcomeOf('unknown', 'agent_silent');
  world.overrides.cancelCall = async () => ({ outcome: outcomeOf('canceled', 'killed') });
  const bench = await openBench(world);
  const handle = await bench.startWorkflow(SWEEP_WORKFLOW_TYPE, `sweep-${randomUUID()}`, {});
  expect(await handle.result()).toEqual({ turnsClosed: 0, settlesStarted: 1, chatsWoken: 0 });
  expect(await bench.settleOf('2-a' as ExecutionKey).result()).toMatchObject({ status: 'canceled' });
  expect(world.row('a').truth?.status).toBe('canceled');
});

test('one stray turn that can not be closed leaves the others to be closed', async () => {
  const world = lostTurn([]);
  const { chatId } = world;
  const turns = [
    { chatId, turn: 1 },
    { chatId, turn: 2 },
  ];
  world.overrides.findStrays = async () => ({ turns, calls: [], chats: [] });
  world.overrides.closeStrayTurn = async ({ turn }) => {
    if (turn === 1) throw refusal('bad_request');
    return { openCalls: [] };
  };
  expect(await sweep(world)).toEqual({ turnsClosed: 1, settlesStarted: 0, chatsWoken: 0 });
});
