import type { ProcessIdentity } from './process-identity.ts';

/** A piece that has said it is ready. */
export interface RunningPiece {
  readonly process: ProcessIdentity;
  /** False: it ran here before us, so we leave it alone at the end. */
  readonly isOurs: boolean;
  /** What it said, for people. */
  readonly detail: string;
  /** Resolves with how it ended; never rejects. */
  readonly ended: Promise<string>;
  /** Polite signal, patience, the other one; resolves when it has gone. */
  stop(): Promise<void>;
}

export interface PieceToStart {
  readonly name: string;
  /** Rejects with one clear error when it ends before it is ready, or when `stopping` aborts. */
  start(stopping: AbortSignal): Promise<RunningPiece>;
}

/** A line that a piece said, or that is said of it. */
export type Say = (piece: string, line: string) => void;
