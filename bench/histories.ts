/** Reads Temporal's history of a finished run: what came when, how many events, how many bytes. */
import type { WorkflowHandle } from '@temporalio/client';

type Timestamp = { seconds?: { toString(): string } | null; nanos?: number | null };

export interface ActivityRound {
  readonly type: string;
  /** From its scheduling to the scheduling of the next one, or to the end of the workflow: with the decision in between. */
  readonly ms: number;
}

/** For workflows that run one activity at a time. */
export async function readRounds(handle: WorkflowHandle): Promise<ActivityRound[]> {
  const { events } = await handle.fetchHistory();
  const marks: { type: string | undefined; atMs: number }[] = [];
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const hasEnded = event.workflowExecutionCompletedEventAttributes;
    if (scheduled || hasEnded)
      marks.push({ type: scheduled?.activityType?.name ?? undefined, atMs: toMs(event.eventTime) });
  }
  return marks.flatMap(({ type, atMs }, index) => {
    const next = marks[index + 1];
    return type === undefined || next === undefined ? [] : [{ type, ms: next.atMs - atMs }];
  });
}

/** The rounds of one type, in milliseconds. Throws when the run has none. */
export function roundsOf(rounds: readonly ActivityRound[], type: string): number[] {
  const samples = rounds.filter((round) => round.type === type).map(({ ms }) => ms);
  if (samples.length === 0) throw new Error(`the history has no activity ${type}`);
  return samples;
}

export interface HistorySize {
  readonly events: number;
  readonly bytes: number;
  readonly workflowTasks: number;
}

export async function readSize(handle: WorkflowHandle): Promise<HistorySize> {
  const { events } = await handle.fetchHistory();
  const { historySize } = await handle.describe();
  return {
    events: events?.length ?? 0,
    bytes: historySize ?? 0,
    workflowTasks: (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes).length,
  };
}

export function toMs(time: Timestamp | null | undefined): number {
  return Number(time?.seconds?.toString() ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6;
}
