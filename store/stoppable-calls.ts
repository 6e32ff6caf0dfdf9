/** Commands that may still run at their agents, as the rows have them. */
import type { Selectable } from 'kysely';
import type { FindStoppableInput, FindStoppableResult, StoppableCall } from '../contract/chat-activities.ts';
import type { CallStatus } from '../contract/calls.ts';
import { Refusal } from '../contract/failures.ts';
import { hasResult, readCommittedCall } from './call-row.ts';
import { findCallRow } from './calls.ts';
import type { Database } from './database.ts';
import type { CallRow } from './schema.ts';

/** What of a call with such a status may still run although it has its result. */
export const MAY_RUN: readonly CallStatus[] = ['detached', 'unknown', 'cancel_requested'];

/** Undefined where no agent has a process of it: it was never sent, or is a signal or a read. */
export function readStoppable(row: Selectable<CallRow>): StoppableCall | undefined {
  const { key, nonce, target, summary, request } = readCommittedCall(row);
  const isCommand = request !== undefined && !('verb' in request);
  return isCommand && target !== undefined ? { turn: row.turn, key, nonce, target, summary } : undefined;
}

export async function findStoppable(db: Database, { chatId, key }: FindStoppableInput): Promise<FindStoppableResult> {
  const row = await findCallRow(db, { chatId, key });
  if (row === undefined) throw new Refusal('unknown_process', `chat ${chatId} has no call ${key}`, 'key');
  const { status } = row;
  if (hasResult(row) && !MAY_RUN.includes(status)) return { status, hasResult: true };
  const call = readStoppable(row);
  if (call !== undefined) return { status, call, hasResult: hasResult(row) };
  if (row.target === null && !hasResult(row)) {
    throw new Refusal('too_busy', `call ${key} was not sent to its agent yet, so there is nothing to stop`, 'key');
  }
  throw new Refusal('bad_request', `call ${key} (${row.tool_name}) has no command of its own to stop`, 'key');
}
