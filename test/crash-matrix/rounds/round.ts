/** What every round works with, and the steps that most of them share. */
import { findLeftovers } from '../verify-lane.ts';
import { verifyKey } from '../verify-key.ts';
import { openGate, makeGate } from '../gates.ts';
import type { Lane } from '../lane.ts';
import type { MatrixKey } from '../matrix-key.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { Tally } from '../tally.ts';
import { start } from '../ask.ts';

export interface Round {
  readonly lane: Lane;
  readonly tally: Tally;
  readonly random: SeededRandom;
}

/** One way of dying, done once. */
export interface RoundPlan {
  /** For the progress line, and for `--only`. */
  readonly name: string;
  readonly run: (round: Round) => Promise<void>;
}

/** Of the keys that turn out void or absent, so many are fenced instead of started again. */
const FENCED_SHARE = 0.3;

/** Sends the starts side by side; an agent that dies under them is no answer, and none is needed. */
export async function startAll(lane: Lane, keys: readonly MatrixKey[]): Promise<void> {
  for (const key of keys) if (key.plan?.action === 'stand') makeGate(lane, key);
  await Promise.all(keys.map((key) => start(lane, key)));
}

/** Side by side: each waits for its own end. */
export async function verifyAll({ lane, tally, random }: Round, keys: readonly MatrixKey[]): Promise<void> {
  const choices = keys.map((key) => ({ key, isFencing: random.chance(FENCED_SHARE) }));
  const verdicts = await Promise.all(choices.map(({ key, isFencing }) => verifyKey(lane, key, { isFencing })));
  for (const verdict of verdicts) tally.add(verdict);
  tally.violations.push(...(await findLeftovers(lane)));
}

export async function openGates(lane: Lane, keys: readonly MatrixKey[]): Promise<void> {
  for (const key of keys) await openGate(lane, key);
}
