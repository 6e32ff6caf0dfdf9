/** The ratios that the bench is about, and what each is meant to be. */
import type { Figures } from './measure.ts';

/** The names are an interface: scripts read them from the last line of `--json`. */
export interface Ratios {
  readonly executeToPlainActivity: number;
  readonly sideBySideRate: number;
  readonly startExitMinusSpawnMs: number;
  readonly eventsPerCall: number;
  readonly bytesPerCall: number;
  readonly cost1000to10: number;
  readonly reattachKillMinusTimeoutMs: number;
  readonly reattachTermMs: number;
  readonly agentMiB: number;
}

export function toRatios(figures: Figures): Ratios {
  const { latencies, sideBySide, history, longChats, reAttach, memory } = figures;
  return {
    executeToPlainActivity: latencies.executeMs.median / latencies.plainActivityMs.median,
    sideBySideRate: sideBySide.execute.callsPerSecond.median / sideBySide.plain.callsPerSecond.median,
    startExitMinusSpawnMs: latencies.agentStartToExitMs.median - latencies.bareSpawnMs.median,
    eventsPerCall: history.perCall.events,
    bytesPerCall: history.perCall.bytes,
    cost1000to10: longChats.long.callMs.median / longChats.short.callMs.median,
    reattachKillMinusTimeoutMs: reAttach.killMs.median - reAttach.heartbeatTimeoutMs,
    reattachTermMs: reAttach.termMs.median,
    agentMiB: memory.agent.residentMiB,
  };
}

/** 80 MB, in the unit in which the kernel counts. */
const AGENT_MIB_MAX = 80e6 / 2 ** 20;
const KIB = 1024;

interface Aim {
  readonly bound: 'at most' | 'at least';
  readonly value: number;
}

export const AIMS: Readonly<Record<keyof Ratios, Aim>> = {
  executeToPlainActivity: { bound: 'at most', value: 0.95 },
  sideBySideRate: { bound: 'at least', value: 1.15 },
  startExitMinusSpawnMs: { bound: 'at most', value: 15 },
  eventsPerCall: { bound: 'at most', value: 10 },
  bytesPerCall: { bound: 'at most', value: 8 * KIB },
  cost1000to10: { bound: 'at most', value: 1.1 },
  reattachKillMinusTimeoutMs: { bound: 'at most', value: 1000 },
  reattachTermMs: { bound: 'at most', value: 500 },
  agentMiB: { bound: 'at most', value: AGENT_MIB_MAX },
};

export function isMet(ratio: number, { bound, value }: Aim): boolean {
  return bound === 'at most' ? ratio <= value : ratio >= value;
}
