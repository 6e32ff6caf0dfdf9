/** Recorded histories as files: `histories/<generation>/<kind>.<part>.json`, and what can be read from one. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const HISTORIES = join(import.meta.dirname, 'histories');

export interface RecordedEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly [attributes: string]: unknown;
}

export interface RecordedHistory {
  readonly generation: number;
  readonly kind: string;
  readonly part: string;
  readonly events: readonly RecordedEvent[];
}

type Attributes = Readonly<Record<string, unknown>>;

/** Numbers, ascending. A generation is the histories of one state of the workflow code (CONTRIBUTING.md). */
export function listGenerations(): number[] {
  if (!existsSync(HISTORIES)) return [];
  return readdirSync(HISTORIES)
    .map(Number)
    .toSorted((a, b) => a - b);
}

export function readHistories(generation: number): RecordedHistory[] {
  const folder = join(HISTORIES, String(generation));
  return readdirSync(folder)
    .toSorted()
    .map((file) => {
      const [kind = '', part = ''] = file.split('.');
      const { events } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { events: RecordedEvent[] };
      return { generation, kind, part, events };
    });
}

/** The attributes of all events of a type, named as in the protocol: `activityTaskStarted`. */
export function attributesOf({ events }: Pick<RecordedHistory, 'events'>, type: string): Attributes[] {
  return events.flatMap((event) => {
    const attributes = event[`${type}EventAttributes`];
    return isAttributes(attributes) ? [attributes] : [];
  });
}

function isAttributes(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null;
}

/** How many activities of a name were scheduled. */
export function countActivities(history: Pick<RecordedHistory, 'events'>, name: string): number {
  return attributesOf(history, 'activityTaskScheduled').filter(
    ({ activityType }) => (activityType as { name?: string } | undefined)?.name === name,
  ).length;
}

export function workflowIdOf(history: Pick<RecordedHistory, 'events'>): string {
  const [started] = attributesOf(history, 'workflowExecutionStarted');
  return String(started?.['workflowId']);
}

/** The last event's type, such as `WORKFLOW_EXECUTION_COMPLETED`. */
export function endOf({ events }: Pick<RecordedHistory, 'events'>): string {
  return String(events.at(-1)?.eventType).replace(/^EVENT_TYPE_/, '');
}
