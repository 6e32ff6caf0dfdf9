/** A row of the table `calls` as the rest of the system reads it. */
import type { Selectable } from 'kysely';
import type { CallOutcome, CommittedCall, Evidence } from '../contract/calls.ts';
import type { AgentId, ChatId, ExecutionKey, Handle, MessageId, Nonce, ToolCallId } from '../contract/ids.ts';
import type { Target } from '../contract/target.ts';
import type { CallRow } from './schema.ts';
import type { CallSnapshot } from './stream-events.ts';

export interface StoredCall extends CommittedCall {
  readonly chatId: ChatId;
  readonly messageId: MessageId;
  readonly turn: number;
  /** As the model gave them; `{}` where they could not be parsed. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly evidence?: Evidence;
  readonly outcome?: Omit<CallOutcome, 'text'>;
  readonly result?: { readonly text: string; readonly isError: boolean };
  readonly handle?: Handle;
  readonly exitCode?: number;
  readonly createdAt: string;
  readonly resolvedAt?: string;
  /** When a later truth last moved its status (C3). */
  readonly settledAt?: string;
}

export function readCall(row: Selectable<CallRow>): StoredCall {
  return {
    ...readCommittedCall(row),
    chatId: row.chat_id as ChatId,
    messageId: row.message_id as MessageId,
    turn: row.turn,
    arguments: JSON.parse(row.arguments) as Record<string, unknown>,
    createdAt: row.created_at,
    ...(row.evidence === null ? {} : { evidence: JSON.parse(row.evidence) as Evidence }),
    ...(row.outcome === null ? {} : { outcome: JSON.parse(row.outcome) as Omit<CallOutcome, 'text'> }),
    ...(row.result_text === null ? {} : { result: { text: row.result_text, isError: row.is_error === 1 } }),
    ...(row.handle === null ? {} : { handle: row.handle as Handle }),
    ...(row.exit_code === null ? {} : { exitCode: row.exit_code }),
    ...(row.resolved_at === null ? {} : { resolvedAt: row.resolved_at }),
    ...(row.settled_at === null ? {} : { settledAt: row.settled_at }),
  };
}

/** The part of a row that the workflow is told. */
export function readCommittedCall(row: Selectable<CallRow>): CommittedCall {
  const target = readTarget(row);
  return {
    key: row.key as ExecutionKey,
    toolCallId: row.tool_call_id as ToolCallId,
    toolName: row.tool_name,
    position: row.position,
    nonce: row.nonce as Nonce,
    summary: row.summary,
    agentId: row.agent_id as AgentId,
    status: row.status,
    ...(row.request === null ? {} : { request: JSON.parse(row.request) as NonNullable<CommittedCall['request']> }),
    ...(target === undefined ? {} : { target }),
    ...(hasResult(row) ? { hasResult: true } : {}),
  };
}

/** A call is open until it has its result; its status may be `cancel_requested` for longer. */
export function hasResult(row: Selectable<CallRow>): boolean {
  return row.result_text !== null;
}

export function readTarget(row: Selectable<CallRow>): Target | undefined {
  return row.target === null ? undefined : (JSON.parse(row.target) as Target);
}

/** The part of a call that watchers are told. */
export function snapshotOf(call: StoredCall): CallSnapshot {
  const durationMs = call.outcome?.exit?.durationMs;
  const { key, messageId, turn, position, toolCallId, toolName, summary, agentId, status } = call;
  return {
    key,
    messageId,
    turn,
    position,
    toolCallId,
    toolName,
    summary,
    agentId,
    status,
    ...(call.evidence === undefined ? {} : { evidence: call.evidence }),
    ...(call.result === undefined ? {} : { result: call.result }),
    ...(call.handle === undefined ? {} : { handle: call.handle }),
    ...(call.exitCode === undefined ? {} : { exitCode: call.exitCode }),
    ...(durationMs === undefined ? {} : { durationMs }),
    createdAt: call.createdAt,
    ...(call.resolvedAt === undefined ? {} : { resolvedAt: call.resolvedAt }),
  };
}
