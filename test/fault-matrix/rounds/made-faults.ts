/** Signals to processes and faults on lines, at moments of the seed's choice, with turns of many kinds under way. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultName } from '../faults.ts';
import type { PlanKind } from '../plans.ts';
import { makeFault, underTurns } from './fault-round.ts';
import type { FaultRoundPlan } from './fault-round.ts';

const KINDS: readonly PlanKind[] = ['plain', 'long', 'interrupted', 'slow', 'hurried', 'plain', 'held', 'terminated'];
/** Between two faults: some meet turns that have just come through the one before, some those that haven't. */
const PAUSE_MS_MAX = 1500;

/** One after another. */
export function faultsInTurn(name: string, faults: readonly FaultName[]): FaultRoundPlan {
  return {
    name,
    run: (round) =>
      underTurns(round, KINDS, async () => {
        for (const fault of faults) {
          await delay(round.random.between(0, PAUSE_MS_MAX));
          await makeFault(round, fault);
        }
      }),
  };
}

/** Pairs of the seed's choice at the same time. */
export function faultsAtOnce(name: string, pairs: number, choices: readonly FaultName[]): FaultRoundPlan {
  return {
    name,
    run: (round) =>
      underTurns(round, KINDS, async () => {
        for (let pair = 0; pair < pairs; pair++) {
          await delay(round.random.between(0, PAUSE_MS_MAX));
          const first = round.random.pick(choices);
          const [kind] = first.split('/');
          const second = round.random.pick(choices.filter((choice) => !choice.startsWith(`${kind}/`)));
          await Promise.all([makeFault(round, first), makeFault(round, second)]);
        }
      }),
  };
}
