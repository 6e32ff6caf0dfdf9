/**
 * What a watcher of a chat is told, in order (S1). Appended in the transaction that makes it true, numbered per chat.
 * Parts of a step are dropped once its message is committed or their attempt withdrawn: the event that ends them says
 * all that a late reader needs.
 */
import type { Transaction } from 'kysely';
import type { CallStatus, Evidence } from '../contract/calls.ts';
import type { AgentId, ChatId, ExecutionKey, Handle, MessageId, ToolCallId } from '../contract/ids.ts';
import type { TurnEnd } from '../contract/turn.ts';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';
import type { StepName } from './step-rows.ts';
import { pruneWhenDue } from './stream-retention.ts';

export interface TurnError {
  readonly code: string;
  readonly message: string;
}

/** A call as a watcher sees it; a later event of the same key replaces an earlier one. */
export interface CallSnapshot {
  readonly key: ExecutionKey;
  readonly messageId: MessageId;
  readonly turn: number;
  readonly position: number;
  readonly toolCallId: ToolCallId;
  readonly toolName: string;
  readonly summary: string;
  readonly agentId: AgentId;
  readonly status: CallStatus;
  readonly evidence?: Evidence;
  readonly result?: { readonly text: string; readonly isError: boolean };
  readonly handle?: Handle;
  readonly exitCode?: number;
  /** How long its command ran, by its agent's clock; absent in events of earlier versions. */
  readonly durationMs?: number;
  /** ISO 8601; absent in events of earlier versions. */
  readonly createdAt?: string;
  readonly resolvedAt?: string;
}

/** With what was asked, as the model gave it; told once, with the message. */
export interface AskedCall extends CallSnapshot {
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type StreamEventBody =
  | {
      readonly type: 'status';
      readonly state: 'idle' | 'running' | 'interrupting';
      readonly turn?: number;
      readonly error?: TurnError;
    }
  | { readonly type: 'turn'; readonly turn: number; readonly state: 'active' | TurnEnd; readonly error?: TurnError }
  | { readonly type: 'queued'; readonly clientMessageId: string; readonly position: number; readonly text: string }
  /** All that waits, in the order in which it will be answered: something was deleted or put in front. */
  | { readonly type: 'queue'; readonly queue: readonly string[] }
  /** What is known of the chat itself, whole. */
  | {
      readonly type: 'chat';
      readonly agentId: AgentId;
      readonly epoch: number;
      readonly isArchived: boolean;
      readonly model?: string;
      readonly title?: string;
    }
  /** An edit: messages from this id on, below the ids that come after this event, are not shown any more. */
  | { readonly type: 'hidden'; readonly fromId: MessageId; readonly epoch: number }
  | {
      readonly type: 'message';
      readonly role: 'user';
      readonly id: MessageId;
      readonly turn: number;
      readonly clientMessageId: string;
      readonly text: string;
    }
  | {
      readonly type: 'message';
      readonly role: 'assistant';
      readonly id: MessageId;
      readonly turn: number;
      readonly step: number;
      readonly text: string;
      readonly calls: readonly AskedCall[];
    }
  /** It stands for so many older messages before the model; people still see those. */
  | {
      readonly type: 'message';
      readonly role: 'summary';
      readonly id: MessageId;
      readonly turn: number;
      readonly text: string;
      readonly messageCount: number;
    }
  /** The conversation is too long for its model, and a summary of so many older messages is being written. */
  | { readonly type: 'compaction'; readonly turn: number; readonly messageCount: number }
  /** Text that the model is still writing. */
  | {
      readonly type: 'part';
      readonly turn: number;
      readonly step: number;
      readonly messageId: MessageId;
      readonly text: string;
    }
  /** The parts of this step so far are void: its attempt failed or the step was closed. */
  | { readonly type: 'withdrawn'; readonly turn: number; readonly step: number }
  /** The model call failed and is tried again; what it had shown is withdrawn. */
  | {
      readonly type: 'retry';
      readonly turn: number;
      readonly step: number;
      /** The one that failed, from 1. */
      readonly attempt: number;
      readonly code: string;
      readonly message: string;
      readonly retryInMs: number;
    }
  | { readonly type: 'call'; readonly call: CallSnapshot }
  /** More became known of a call than its result says (C3); the model reads this text, too. */
  | { readonly type: 'note'; readonly key: ExecutionKey; readonly text: string };

export type StreamEvent = StreamEventBody & { readonly seq: number; readonly at: string };

/** Names the step whose parts are dropped together. */
export function partsOf(turn: number, step: number): string {
  return `${turn}/${step}`;
}

export async function appendEvents(
  trx: Transaction<Schema>,
  chatId: ChatId,
  bodies: readonly StreamEventBody[],
): Promise<void> {
  if (bodies.length === 0) return;
  const { last_event_seq: last } = await trx
    .updateTable('chats')
    .set((expression) => ({ last_event_seq: expression('last_event_seq', '+', bodies.length) }))
    .where('id', '=', chatId)
    .returning('last_event_seq')
    .executeTakeFirstOrThrow();
  const at = new Date().toISOString();
  const first = last - bodies.length + 1;
  for (const [index, body] of bodies.entries()) {
    const { type, ...payload } = body;
    const part_of = body.type === 'part' ? partsOf(body.turn, body.step) : null;
    await trx
      .insertInto('stream_events')
      .values({ chat_id: chatId, seq: first + index, type, part_of, payload: JSON.stringify(payload), at })
      .execute();
  }
  await pruneWhenDue(trx, chatId, { first, last });
}

export async function dropParts(trx: Transaction<Schema>, step: StepName): Promise<void> {
  await trx
    .deleteFrom('stream_events')
    .where('chat_id', '=', step.chatId)
    .where('part_of', '=', partsOf(step.turn, step.step))
    .execute();
}

/** The text that a step's attempt has shown so far. */
export async function readParts(trx: Transaction<Schema>, step: StepName): Promise<string> {
  const rows = await trx
    .selectFrom('stream_events')
    .select('payload')
    .where('chat_id', '=', step.chatId)
    .where('part_of', '=', partsOf(step.turn, step.step))
    .orderBy('seq')
    .execute();
  return rows.map(({ payload }) => (JSON.parse(payload) as { text: string }).text).join('');
}

/** The events after the cursor `after` (0: from the beginning), at most `limit`. */
export async function readEvents(
  db: Database,
  input: { readonly chatId: ChatId; readonly after: number; readonly limit: number },
): Promise<readonly StreamEvent[]> {
  const rows = await db
    .selectFrom('stream_events')
    .select(['seq', 'type', 'payload', 'at'])
    .where('chat_id', '=', input.chatId)
    .where('seq', '>', input.after)
    .orderBy('seq')
    .limit(input.limit)
    .execute();
  return rows.map((row) => {
    const payload = JSON.parse(row.payload) as object;
    return { ...payload, type: row.type, seq: row.seq, at: row.at } as StreamEvent;
  });
}
