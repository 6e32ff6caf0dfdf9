/**
 * The lines of an exported chat: JSON, one object a line, in this order: header, chat, messages (each followed by its
 * calls), notes, steps, turns, end. The end counts the lines, so that a file that was cut is noticed.
 *
 * Left out on purpose is what ties a call to the process that ran it: target and nonce. A copy of a chat must never
 * reach the processes of the chat that it was copied from, and a row without a target was never dispatched (K5).
 */
import { z } from 'zod';
import { EVIDENCE_CODES, RESOLVED_STATUSES } from '../../contract/calls.ts';
import { toStoredText } from '../stored-text.ts';

export const ARCHIVE_VERSION = 1;

const text = z.string().transform(toStoredText);
const short = z.string().min(1).max(1024).transform(toStoredText);
const time = z.iso.datetime();
const count = z.int().nonnegative();
const positive = z.int().positive();
const failure = z.strictObject({ code: short, message: text });

const header = z.strictObject({ type: z.literal('latchkey-chat'), version: z.int(), exportedAt: time });

const chat = z.strictObject({
  type: z.literal('chat'),
  chatId: short,
  agentId: short,
  title: text.nullable(),
  model: text.nullable(),
  epoch: count,
  highestMessageId: count,
  lastTurn: count,
  lastError: failure.nullable(),
  createdAt: time,
  updatedAt: time,
  archivedAt: time.nullable(),
});

const message = z.strictObject({
  type: z.literal('message'),
  id: positive,
  role: z.enum(['user', 'assistant', 'summary']),
  turn: count,
  step: count.nullable(),
  clientMessageId: text.nullable(),
  text,
  /** Not 0: by an edit; nobody is shown it any more. */
  hidden: count,
  summarizedBy: positive.nullable(),
  at: time,
});

const call = z.strictObject({
  type: z.literal('call'),
  key: short,
  messageId: positive,
  turn: count,
  position: count,
  toolCallId: short,
  toolName: text,
  arguments: z.record(z.string(), z.unknown()),
  request: z.record(z.string(), z.unknown()).nullable(),
  summary: text,
  agentId: short,
  /** Of one whose end was still asked for: the copy won't be told. */
  status: z.enum([...RESOLVED_STATUSES, 'cancel_requested']),
  evidence: z.looseObject({ code: z.enum(EVIDENCE_CODES), detail: z.string() }),
  outcome: z.looseObject({ status: z.enum(RESOLVED_STATUSES) }).nullable(),
  result: z.strictObject({ text, isError: z.boolean() }),
  handle: short.nullable(),
  exitCode: z.int().nullable(),
  createdAt: time,
  resolvedAt: time.nullable(),
  settledAt: time.nullable(),
});

const note = z.strictObject({
  type: z.literal('note'),
  position: positive,
  afterMessageId: count,
  key: short,
  text,
  at: time,
});

const step = z.strictObject({
  type: z.literal('step'),
  turn: count,
  step: count,
  messageId: positive.nullable(),
  state: z.enum(['committed', 'closed']),
  usage: z.record(z.string(), z.unknown()).nullable(),
  at: time,
});

const turn = z.strictObject({
  type: z.literal('turn'),
  turn: positive,
  agentId: short.nullable(),
  state: z.enum(['completed', 'failed', 'interrupted']),
  error: failure.nullable(),
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  epoch: count,
});

const end = z.strictObject({
  type: z.literal('end'),
  messages: count,
  calls: count,
  notes: count,
  steps: count,
  turns: count,
});

export const archiveLine = z.discriminatedUnion('type', [header, chat, message, call, note, step, turn, end]);
export type ArchiveLine = z.infer<typeof archiveLine>;
export type LineOf<Type extends ArchiveLine['type']> = Extract<ArchiveLine, { type: Type }>;

export type ArchiveCounts = Omit<LineOf<'end'>, 'type'>;

/** Where each kind of line counts. */
export const COUNTED_AS = {
  message: 'messages',
  call: 'calls',
  note: 'notes',
  step: 'steps',
  turn: 'turns',
} as const satisfies Partial<Record<ArchiveLine['type'], keyof ArchiveCounts>>;

export function noneCounted(): { -readonly [Name in keyof ArchiveCounts]: number } {
  return { messages: 0, calls: 0, notes: 0, steps: 0, turns: 0 };
}
