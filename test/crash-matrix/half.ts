/** The agent's half or the Temporal half of the matrix, as the command sees them. */
export interface HalfRequest {
  readonly size: 'short' | 'quick' | 'full';
  readonly seed: number;
  readonly minutes: number | undefined;
  readonly isJson: boolean;
  /** Only rounds of these names; undefined: the whole half. */
  readonly rounds: readonly string[] | undefined;
  readonly onProgress: (line: string) => void;
}

export interface Half {
  /** Also writes the half's document. Rejects when a round could not be done, or a point was not met. */
  run(): Promise<void>;
  dispose(): void;
  violations(): number;
  /** For people, or as JSON: what was seen, and what was violated. */
  lines(): string[];
  /** Members of the last line. */
  summary(): object;
  /** The same of a run that could not be done: why, and what counts nevertheless. */
  brokenOff(reason: string): object;
}

export function writesDocument({ size, rounds }: HalfRequest): boolean {
  return size !== 'short' && rounds === undefined;
}

/** A whole half meets every point, or proves nothing about those that it missed. */
export function requireAllPoints({ rounds }: HalfRequest, missedPoints: readonly string[]): void {
  if (rounds !== undefined || missedPoints.length === 0) return;
  throw new Error(`nobody died at ${missedPoints.join(', ')}: this run proves nothing about them`);
}

/** Violations that were found do count. */
export function foundSoFar(violations: number): { violations?: number } {
  return violations > 0 ? { violations } : {};
}
