/** One activity, one command, one call after the other, in interleaved rounds: the latencies (a) to (e). */
import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { parseChatId } from '../contract/ids.ts';
import type { ChainInput } from './workflows/chain.ts';
import { readRounds, roundsOf } from './histories.ts';
import { spawnBare, startToExit } from './local-ways.ts';
import { beginTurn, endOfTurn, newChat, stepsOfTrue } from './run-turn.ts';
import { PLAIN_QUEUE } from './stage.ts';
import type { Stage } from './stage.ts';
import { inRounds, summarize } from './statistics.ts';
import type { Figure } from './statistics.ts';

export interface Latencies {
  readonly noOpActivityMs: Figure;
  readonly plainActivityMs: Figure;
  readonly executeMs: Figure;
  /** In a turn: with the write of the result to the store, until the next model call is scheduled. */
  readonly callInTurnMs: Figure;
  /** Model call and call together. */
  readonly stepInTurnMs: Figure;
  readonly agentStartToExitMs: Figure;
  readonly agentWithoutCgroupMs: Figure;
  readonly bareSpawnMs: Figure;
}

const WARM_UP_COUNT = 3;

export async function measureLatencies(
  stage: Stage,
  { rounds, chainLength }: { readonly rounds: number; readonly chainLength: number },
): Promise<Latencies> {
  const samples = {
    noOpActivityMs: [] as number[],
    plainActivityMs: [] as number[],
    executeMs: [] as number[],
    callInTurnMs: [] as number[],
    stepInTurnMs: [] as number[],
    agentStartToExitMs: [] as number[],
    agentWithoutCgroupMs: [] as number[],
    bareSpawnMs: [] as number[],
  };
  const ways = (count: number): (() => Promise<void>)[] => {
    const script = stage.writeScript(`steps-${count}.json`, stepsOfTrue(count));
    return [
      async () => void samples.noOpActivityMs.push(...(await runChain(stage, { kind: 'nothing', count }))),
      async () => void samples.plainActivityMs.push(...(await runChain(stage, { kind: 'spawn', count }))),
      async () => void samples.executeMs.push(...(await runChain(stage, { kind: 'execute', count }))),
      async () => {
        const handle = await beginTurn(stage, { chatId: await newChat(stage), script });
        await endOfTurn(handle, count);
        const turn = await readRounds(handle);
        const calls = roundsOf(turn, 'execute');
        const models = roundsOf(turn, 'generateStep');
        samples.callInTurnMs.push(...calls);
        samples.stepInTurnMs.push(...calls.map((ms, step) => ms + (models[step] ?? 0)));
      },
      async () => void samples.agentStartToExitMs.push(...(await startToExit(stage, count))),
      async () => void samples.agentWithoutCgroupMs.push(...(await startToExit(stage.agentWithoutCgroups, count))),
      async () => void samples.bareSpawnMs.push(...(await spawnBare(stage, { count, isSideBySide: false }))),
    ];
  };
  await inRounds(1, ways(WARM_UP_COUNT));
  for (const list of Object.values(samples)) list.length = 0;
  await inRounds(rounds, ways(chainLength));
  return Object.fromEntries(
    Object.entries(samples).map(([name, list]) => [name, summarize(list)]),
  ) as unknown as Latencies;
}

const ACTIVITY_OF = { nothing: 'doNothing', spawn: 'spawnTrue', execute: 'execute' } as const;

async function runChain(stage: Stage, chain: Pick<ChainInput, 'kind' | 'count'>): Promise<number[]> {
  const handle = await beginChain(stage, chain);
  await handle.result();
  return roundsOf(await readRounds(handle), ACTIVITY_OF[chain.kind]);
}

export function beginChain(stage: Stage, chain: Pick<ChainInput, 'kind' | 'count'>): Promise<WorkflowHandle> {
  const chatId = parseChatId(`bench-${randomUUID()}`);
  const input: ChainInput = { ...chain, chatId, target: stage.target };
  return stage.client.workflow.start('chain', { workflowId: chatId, taskQueue: PLAIN_QUEUE, args: [input] });
}
