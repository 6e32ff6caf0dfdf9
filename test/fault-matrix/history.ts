/** What Temporal has recorded of a turn's last run, in the words of the checkers. */
import type { TurnHandle } from '../../client/start-turn.ts';
import type { CallOutcome, ResultStatus } from '../../contract/calls.ts';
import type { TurnResult } from '../../contract/turn.ts';

type Events = NonNullable<Awaited<ReturnType<TurnHandle['fetchHistory']>>['events']>;
type HistoryEvent = Events[number];

export interface RecordedWrite {
  readonly eventId: number;
  readonly status: ResultStatus;
  readonly evidenceCode: string;
}

export interface Scheduled {
  readonly eventId: number;
  /** By the server's clock, which is the store's: they share a machine. */
  readonly atMs: number;
}

/** Attempts up to the one that answered, and why the one before it ended. */
export interface Generated {
  readonly attempts: number;
  readonly lastFailure: string | undefined;
}

type WorkflowResult = Pick<TurnResult, 'state' | 'error'>;

export interface TurnHistory {
  /** `execute` and `process_signal`, by activity id: the event that scheduled it, once or more. */
  readonly scheduled: ReadonlyMap<string, readonly Scheduled[]>;
  /** By activity id: what the activity returned. */
  readonly returned: ReadonlyMap<string, CallOutcome>;
  /** Answers of recordResult, by the summary's key: `<key> <status>`. */
  readonly recorded: ReadonlyMap<string, readonly RecordedWrite[]>;
  /** Why workflow tasks failed; a time-out is none. */
  readonly failedTasks: readonly string[];
  /** Of the model's steps that were answered. */
  readonly generated: readonly Generated[];
  readonly ending: string | undefined;
  /** What the workflow returned. */
  readonly result: WorkflowResult | undefined;
}

const CALLS = ['execute', 'signalProcess'];

export async function readTurnHistory(handle: TurnHandle): Promise<TurnHistory> {
  const events = (await handle.fetchHistory()).events ?? [];
  const scheduled = new Map<string, Scheduled[]>();
  const types = new Map<string, { id: string; type: string }>();
  const returned = new Map<string, CallOutcome>();
  const recorded = new Map<string, RecordedWrite[]>();
  const failedTasks: string[] = [];
  const generated: Generated[] = [];
  const attempts = new Map<string, Generated>();
  for (const event of events) {
    const eventId = Number(event.eventId);
    const asked = event.activityTaskScheduledEventAttributes;
    if (asked) {
      const id = asked.activityId ?? '';
      types.set(String(eventId), { id, type: asked.activityType?.name ?? '' });
      const found = { eventId, atMs: toMs(event.eventTime) };
      if (CALLS.includes(asked.activityType?.name ?? '')) scheduled.set(id, [...(scheduled.get(id) ?? []), found]);
    }
    const start = event.activityTaskStartedEventAttributes;
    if (start) {
      const { attempt, lastFailure } = start;
      attempts.set(String(start.scheduledEventId), {
        attempts: attempt ?? 1,
        lastFailure: lastFailure?.message ?? undefined,
      });
    }
    const done = event.activityTaskCompletedEventAttributes;
    const of = done ? types.get(String(done.scheduledEventId)) : undefined;
    if (done && of !== undefined) {
      if (CALLS.includes(of.type)) returned.set(of.id, decode(done.result) as CallOutcome);
      const taken = attempts.get(String(done.scheduledEventId));
      if (of.type === 'generateStep' && taken !== undefined) generated.push(taken);
    }
    const write = readWrite(event);
    if (write !== undefined) recorded.set(write.key, [...(recorded.get(write.key) ?? []), write]);
    const failed = event.workflowTaskFailedEventAttributes;
    if (failed) failedTasks.push(`cause ${failed.cause}: ${failed.failure?.message ?? ''}`);
  }
  const last = events.at(-1);
  const result = last?.workflowExecutionCompletedEventAttributes?.result;
  return {
    scheduled,
    returned,
    recorded,
    failedTasks,
    generated,
    ending: last === undefined ? undefined : endingOf(last),
    result: result ? (decode(result) as WorkflowResult) : undefined,
  };
}

function endingOf(event: HistoryEvent): string | undefined {
  if (event.workflowExecutionCompletedEventAttributes) return 'completed';
  if (event.workflowExecutionFailedEventAttributes) return 'failed';
  if (event.workflowExecutionTerminatedEventAttributes) return 'terminated';
  if (event.workflowExecutionTimedOutEventAttributes) return 'timed out';
  if (event.workflowExecutionContinuedAsNewEventAttributes) return 'continued';
  return undefined;
}

/** A local activity's answer is in a marker; its summary begins with the key. */
function readWrite(event: HistoryEvent): (RecordedWrite & { key: string }) | undefined {
  const { markerName, details } = event.markerRecordedEventAttributes ?? {};
  if (markerName !== 'core_local_activity') return undefined;
  const data = decode({ payloads: details?.['data']?.payloads ?? [] }) as { activity_type?: string } | undefined;
  if (data?.activity_type !== 'recordResult') return undefined;
  const answer = decode({ payloads: details?.['result']?.payloads ?? [] }) as
    { status: ResultStatus; evidence: { code: string } } | undefined;
  const summary = event.userMetadata?.summary;
  const label = summary ? (decode({ payloads: [summary] }) as string) : '';
  const key = label.split(' ')[0] ?? '';
  if (answer === undefined || key === '') return undefined;
  return { key, eventId: Number(event.eventId), status: answer.status, evidenceCode: answer.evidence.code };
}

function decode(given: { payloads?: readonly { data?: Uint8Array | null }[] | null } | null | undefined): unknown {
  const data = given?.payloads?.[0]?.data;
  return data?.length ? (JSON.parse(Buffer.from(data).toString('utf8')) as unknown) : undefined;
}

function toMs(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6;
}
