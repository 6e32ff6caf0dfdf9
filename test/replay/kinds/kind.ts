import type { RecordedHistory } from '../recorded-history.ts';
import type { RecordingSystem } from '../recording/recording-system.ts';

/** Which run a history is fetched of; without `runId` the newest of its workflow id. */
export interface RunReference {
  readonly workflowId: string;
  readonly runId?: string;
}

export interface Kind {
  readonly name: string;
  /** Makes it happen on the real thing; gives the runs to record, by part. Resolves when they have ended. */
  record(system: RecordingSystem): Promise<Readonly<Record<string, RunReference>>>;
  /** What makes the histories ones of this kind, by part; each must be true, or the recording is of something else. */
  facts(parts: Readonly<Record<string, RecordedHistory | undefined>>): Readonly<Record<string, boolean>>;
}
