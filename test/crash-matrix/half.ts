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
  /** Also writes the half's document. Rejects when a round could not be done. */
  run(): Promise<void>;
  dispose(): void;
  violations(): number;
  /** For people, or as JSON: what was seen, and what was violated. */
  lines(): string[];
  /** Members of the last line. */
  summary(): object;
}

export function writesDocument({ size, rounds }: HalfRequest): boolean {
  return size !== 'short' && rounds === undefined;
}
