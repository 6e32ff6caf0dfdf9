/** What has been done and seen so far on the Temporal side. */
import { FAULT_POINTS } from '../../activities/fault-points.ts';
import type { FaultPoint } from '../../activities/fault-points.ts';
import { checkTurn, CHECKERS } from './check-turn.ts';
import type { Checker, Violation } from './check-turn.ts';
import type { Evidence } from './evidence.ts';
import { saysNothingRan } from './evidence.ts';
import { FAULTS } from './faults.ts';
import type { FaultName } from './faults.ts';

export class FaultTally {
  readonly points = new Map<string, number>();
  readonly violations: Violation[] = [];
  /** How the calls ended: `status (evidence)`, how often. */
  readonly ends = new Map<string, number>();
  readonly #seen: Evidence[] = [];
  kills = 0;
  turns = 0;
  /** Told at once: a run may take long. */
  onViolation: (line: string) => void = () => undefined;

  constructor() {
    for (const point of Object.keys(FAULT_POINTS)) this.points.set(point, 0);
    for (const name of Object.keys(FAULTS)) this.points.set(name, 0);
  }

  /** Somebody died at a named point. */
  reached(point: FaultPoint): void {
    this.#count(point, 1);
    this.kills += 1;
  }

  done(name: FaultName, kills: number): void {
    this.#count(name, 1);
    this.kills += kills;
  }

  add(evidence: Evidence): void {
    this.turns += 1;
    this.#seen.push(evidence);
    const found = checkTurn(evidence);
    this.violations.push(...found);
    for (const { checker, text } of found) this.onViolation(`VIOLATION ${checker}: ${text}`);
    for (const { status, evidence: proof } of evidence.calls) {
      const end = `${status} (${proof?.code ?? 'none'})`;
      this.ends.set(end, (this.ends.get(end) ?? 0) + 1);
    }
  }

  /** In the end, after everybody's last death: nothing has begun since, of whatever turn. */
  lookAgain(count: Evidence['count']): void {
    for (const evidence of this.#seen) {
      const now = { ...evidence, count };
      for (const checker of ['oneRun', 'nothingRan'] as const) {
        const found = CHECKERS[checker](now).map((text) => ({
          checker,
          text: `${evidence.name}, in the end: ${text}`,
        }));
        this.violations.push(...found.filter(({ text }) => !this.#knows(text)));
      }
    }
  }

  of(checker: Checker): number {
    return this.violations.filter((violation) => violation.checker === checker).length;
  }

  get unknown(): number {
    return this.#seen.flatMap(({ calls }) => calls).filter(({ status }) => status === 'unknown').length;
  }

  get notRun(): number {
    return this.#seen
      .flatMap(({ calls }) => calls)
      .filter((call) => call.status === 'no_effect' && saysNothingRan(call)).length;
  }

  /** Of the points of the workers' code. */
  get missedPoints(): string[] {
    return Object.keys(FAULT_POINTS).filter((point) => this.points.get(point) === 0);
  }

  #knows(text: string): boolean {
    return this.violations.some((violation) => violation.text === text.replace(', in the end', ''));
  }

  #count(point: string, times: number): void {
    const before = this.points.get(point);
    if (before === undefined) throw new Error(`no such point: ${point}`);
    this.points.set(point, before + times);
  }
}
