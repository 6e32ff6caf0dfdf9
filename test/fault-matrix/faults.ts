/** What can be done to a process, or to one of the two lines, at any moment. Each says how many were killed by it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '../crash-matrix/seeded-random.ts';
import type { AnswerFault } from '../fakes/fault-proxy.ts';
import type { PieceKind, Stage } from './stage.ts';

/** Up to longer than a heartbeat time-out, so that some deaths are noticed by it and some aren't. */
const DOWN_MS_MAX = 1500;
const FROZEN_MS = { low: 500, high: 5000 };
const LINE_MS = { low: 1500, high: 4000 };
const LATE_MS_MAX = 1200;

type Fault = (stage: Stage, random: SeededRandom) => Promise<number>;

const ANSWER_FAULTS: readonly AnswerFault[] = ['bad-gateway', 'cut', 'hold'];

function dies(kind: PieceKind, signal: 'SIGKILL' | 'SIGTERM'): Fault {
  return async (stage, random) => {
    const count = await stage.end(kind, signal, random.between(0, DOWN_MS_MAX));
    return signal === 'SIGKILL' ? count : 0;
  };
}

function freezes(kind: PieceKind): Fault {
  return async (stage, random) => {
    await stage.freeze(kind, random.between(FROZEN_MS.low, FROZEN_MS.high));
    return 0;
  };
}

function serverDies(signal: 'SIGKILL' | 'SIGTERM'): Fault {
  return async (stage, random) => {
    await stage.endServer(signal, random.between(0, DOWN_MS_MAX));
    return signal === 'SIGKILL' ? 1 : 0;
  };
}

export const FAULTS = {
  'execute-worker/SIGKILL': dies('execute-worker', 'SIGKILL'),
  'execute-worker/SIGTERM': dies('execute-worker', 'SIGTERM'),
  'execute-worker/SIGSTOP': freezes('execute-worker'),
  'turn-worker/SIGKILL': dies('turn-worker', 'SIGKILL'),
  'turn-worker/SIGTERM': dies('turn-worker', 'SIGTERM'),
  'turn-worker/SIGSTOP': freezes('turn-worker'),
  'agent/SIGKILL': dies('agent', 'SIGKILL'),
  'agent/SIGTERM': dies('agent', 'SIGTERM'),
  'agent/SIGSTOP': freezes('agent'),
  'server/SIGKILL': serverDies('SIGKILL'),
  'server/SIGTERM': serverDies('SIGTERM'),
  'server/SIGSTOP': async (stage, random) => {
    await stage.freezeServer(random.between(FROZEN_MS.low, FROZEN_MS.high));
    return 0;
  },
  /** Answers lost after the agent has acted: 502, cut, never. */
  'agent-line/answers': async ({ agentProxy }, random) => {
    agentProxy.faultOf = () => (random.chance(0.4) ? random.pick(ANSWER_FAULTS) : undefined);
    await delay(random.between(LINE_MS.low, LINE_MS.high));
    agentProxy.faultOf = () => undefined;
    return 0;
  },
  /** Requests that are late, or never get there. */
  'agent-line/requests': async ({ agentProxy }, random) => {
    agentProxy.onRequest = async () => {
      if (random.chance(0.3)) throw new Error('the line is cut');
      if (random.chance(0.5)) await delay(random.between(0, LATE_MS_MAX));
    };
    await delay(random.between(LINE_MS.low, LINE_MS.high));
    agentProxy.onRequest = () => undefined;
    return 0;
  },
  'temporal-line/cut': async ({ temporalProxy }, random) => {
    for (let times = random.between(1, 4); times > 0; times--) {
      temporalProxy.cut();
      await delay(random.between(50, 800));
    }
    return 0;
  },
  'temporal-line/late': async ({ temporalProxy }, random) => {
    temporalProxy.delayMs = random.between(50, 400);
    await delay(random.between(LINE_MS.low, LINE_MS.high));
    temporalProxy.delayMs = 0;
    return 0;
  },
  'temporal-line/hold': async ({ temporalProxy }, random) => {
    temporalProxy.hold();
    await delay(random.between(LINE_MS.low, LINE_MS.high));
    temporalProxy.release();
    return 0;
  },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];
