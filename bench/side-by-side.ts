/** Many chats at once: calls a second, and whose CPU they cost. */
import { beginChain } from './one-after-the-other.ts';
import { readCpuMs } from './process-figures.ts';
import { beginTurn, endOfTurn, newChat, stepsOfTrue } from './run-turn.ts';
import type { Stage } from './stage.ts';
import { inRounds, median, summarize } from './statistics.ts';
import type { Figure } from './statistics.ts';

/** CPU milliseconds a call, by piece. */
export type CpuPerCall = Readonly<Record<string, number>>;

export interface Rate {
  /** One sample a round. */
  readonly callsPerSecond: Figure;
  readonly cpuMsPerCall: CpuPerCall;
}

export interface SideBySide {
  readonly count: number;
  readonly plain: Rate;
  readonly execute: Rate;
  readonly turns: Rate;
}

export async function measureSideBySide(
  stage: Stage,
  size: { readonly rounds: number; readonly count: number; readonly callsEach: number },
): Promise<SideBySide> {
  const { rounds, count, callsEach } = size;
  const many = <Result>(work: () => Promise<Result>) => Promise.all(Array.from({ length: count }, work));
  const script = stage.writeScript('side-by-side.json', stepsOfTrue(callsEach));
  const runChains = (kind: 'spawn' | 'execute') => async () => {
    const handles = await many(() => beginChain(stage, { kind, count: callsEach }));
    await Promise.all(handles.map((handle) => handle.result()));
  };
  const runTurns = async () => {
    const chats = await many(() => newChat(stage));
    const handles = await Promise.all(chats.map((chatId) => beginTurn(stage, { chatId, script })));
    await Promise.all(handles.map((handle) => endOfTurn(handle, callsEach)));
  };
  const ways = { plain: runChains('spawn'), execute: runChains('execute'), turns: runTurns };
  const seen = Object.entries(ways).map(([name, run]) => ({
    name,
    run,
    seconds: [] as number[],
    cpu: [] as CpuPerCall[],
  }));
  const calls = count * callsEach;
  await inRounds(
    rounds,
    seen.map((way) => async () => {
      const before = readCpu(stage);
      const beganMs = performance.now();
      await way.run();
      way.seconds.push((performance.now() - beganMs) / 1000);
      const after = readCpu(stage);
      way.cpu.push(mapValues(after, (ms, piece) => (ms - (before[piece] ?? 0)) / calls));
    }),
  );
  const rates = seen.map(({ name, seconds, cpu }): [string, Rate] => [
    name,
    {
      callsPerSecond: summarize(seconds.map((each) => calls / each)),
      cpuMsPerCall: mapValues(cpu[0] ?? {}, (_, piece) => median(cpu.map((each) => each[piece] ?? 0))),
    },
  ]);
  return { count, ...(Object.fromEntries(rates) as Record<keyof typeof ways, Rate>) };
}

function readCpu({ server, agent, executeWorker, turnWorker, plainWorker }: Stage): CpuPerCall {
  const pieces = [executeWorker, agent, turnWorker, plainWorker];
  const own = pieces.map(({ name, pid }): [string, number] => [name, readCpuMs(pid)]);
  // A server that TEMPORAL_ADDRESS names is not ours to look into.
  return Object.fromEntries(server.pid === undefined ? own : [['server', readCpuMs(server.pid)], ...own]);
}

function mapValues(record: CpuPerCall, change: (value: number, name: string) => number): CpuPerCall {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}
