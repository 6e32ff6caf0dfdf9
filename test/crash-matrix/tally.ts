/** What has been done and seen so far, over all lanes. */
import { CRASH_POINTS, KEEPER_POINTS } from '../../agent/crash-points.ts';
import type { Observation, Verdict } from './verify-key.ts';

/** Damage that is no death: the journal or a file is changed while everybody is dead. */
export const DISK_POINTS = ['row-deleted', 'pid-reused'] as const;

export class Tally {
  readonly points = new Map<string, number>();
  readonly observations: Observation[] = [];
  readonly violations: string[] = [];
  kills = 0;

  constructor() {
    for (const point of Object.keys(CRASH_POINTS)) this.points.set(`agent/${point}`, 0);
    for (const point of Object.keys(KEEPER_POINTS)) this.points.set(`keeper/${point}`, 0);
    for (const point of DISK_POINTS) this.points.set(`disk/${point}`, 0);
  }

  /** One process, or the whole machine, was killed on purpose. */
  killed(count = 1): void {
    this.kills += count;
  }

  /** A key met a death with itself, or its agent, at this point. */
  reached(point: string): void {
    const count = this.points.get(point);
    if (count === undefined) throw new Error(`no such point: ${point}`);
    this.points.set(point, count + 1);
  }

  add({ observation, violations }: Verdict): void {
    this.observations.push(observation);
    this.violations.push(...violations);
  }

  get missedPoints(): string[] {
    return [...this.points].filter(([, count]) => count === 0).map(([point]) => point);
  }

  get unknown(): number {
    return this.observations.filter(({ isUnknown }) => isUnknown).length;
  }
}
