/** One run: all measurements in their order. */
import { measureBurst } from './burst.ts';
import type { Burst } from './burst.ts';
import { measureHistory } from './history-cost.ts';
import type { HistoryCost } from './history-cost.ts';
import { measureLongChats } from './long-chats.ts';
import type { LongChats } from './long-chats.ts';
import { measureLatencies } from './one-after-the-other.ts';
import type { Latencies } from './one-after-the-other.ts';
import { readMemory } from './process-figures.ts';
import type { Memory } from './process-figures.ts';
import { measureReAttach } from './re-attach.ts';
import type { ReAttach } from './re-attach.ts';
import { measureSideBySide } from './side-by-side.ts';
import type { SideBySide } from './side-by-side.ts';
import type { Stage } from './stage.ts';

export interface Figures {
  readonly latencies: Latencies;
  readonly sideBySide: SideBySide;
  readonly burst: Burst;
  readonly history: HistoryCost;
  readonly longChats: LongChats;
  readonly reAttach: ReAttach;
  readonly memory: {
    readonly agentAtRest: Memory;
    /** After everything that was measured. */
    readonly agent: Memory;
    readonly executeWorker: Memory;
    readonly turnWorker: Memory;
    readonly plainWorker: Memory;
  };
}

interface Extent {
  readonly latencies: Parameters<typeof measureLatencies>[1];
  readonly sideBySide: Parameters<typeof measureSideBySide>[1];
  readonly burst: Parameters<typeof measureBurst>[1];
  readonly longChats: Parameters<typeof measureLongChats>[1];
  readonly reAttach: Parameters<typeof measureReAttach>[1];
}

/** Some five minutes on two cores. */
export const FULL: Extent = {
  latencies: { rounds: 20, chainLength: 10 },
  sideBySide: { rounds: 5, count: 50, callsEach: 4 },
  burst: { rounds: 5, count: 64 },
  longChats: { rounds: 8, callsEach: 5, longMessages: 1000 },
  reAttach: { rounds: 5 },
};

/** The same measurements, too few of each to be trusted: shows that all of them work. */
export const QUICK: Extent = {
  latencies: { rounds: 2, chainLength: 5 },
  sideBySide: { rounds: 1, count: 50, callsEach: 1 },
  burst: { rounds: 1, count: 64 },
  longChats: { rounds: 1, callsEach: 3, longMessages: 1000 },
  reAttach: { rounds: 1 },
};

export async function measure(stage: Stage, extent: Extent, say: (line: string) => void): Promise<Figures> {
  const agentAtRest = readMemory(stage.agent.pid);
  say('one after the other: activities, calls, spawns');
  const latencies = await measureLatencies(stage, extent.latencies);
  say(`${extent.sideBySide.count} side by side`);
  const sideBySide = await measureSideBySide(stage, extent.sideBySide);
  say(`${extent.burst.count} starts at once`);
  const burst = await measureBurst(stage, extent.burst);
  say('history');
  const history = await measureHistory(stage);
  say('long conversations');
  const longChats = await measureLongChats(stage, extent.longChats);
  // Before the workers are killed.
  const memory = {
    agentAtRest,
    agent: readMemory(stage.agent.pid),
    executeWorker: readMemory(stage.executeWorker.pid),
    turnWorker: readMemory(stage.turnWorker.pid),
    plainWorker: readMemory(stage.plainWorker.pid),
  };
  say('re-attach after SIGKILL and SIGTERM');
  const reAttach = await measureReAttach(stage, extent.reAttach);
  return { latencies, sideBySide, burst, history, longChats, reAttach, memory };
}
