/** Rows of the journal, read and written by name. All of it synchronous: writes only within `Journal.commit`. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ChatId, ExecutionKey, Handle, MessageId, Nonce } from '../../contract/ids.ts';
import type { CgroupRecord } from '../process/cgroup.ts';

export type CallState = 'open' | 'exited' | 'spawn_failed' | 'lost' | 'void' | 'fenced';
export type KillCause = 'cancel' | 'kill_after' | 'signal';

export interface CallRow {
  readonly id: number;
  readonly chatId: ChatId;
  readonly key: ExecutionKey;
  readonly nonce: Nonce;
  /** Null when the key was fenced before any start. */
  readonly fingerprint: string | null;
  readonly state: CallState;
  readonly isFenceRequested: boolean;
  readonly isBackground: boolean;
  readonly commandLine: string;
  /** Of the last launch, from 1; 0 when there was none. */
  readonly attempt: number;
  readonly killIntent: KillCause | null;
  readonly killedBy: KillCause | null;
  readonly exitCode: number | null;
  readonly durationMs: number | null;
  readonly reason: string | null;
  /** Bytes that the output had when it was dropped; null while it is kept. */
  readonly expiredTotal: number | null;
}

export interface AttemptRow {
  readonly callId: number;
  readonly attempt: number;
  readonly bootId: string;
  readonly pidNamespace: string;
  /** Boot clock at the reserve: the original start that the budget counts from (C4). */
  readonly reservedBootMs: number;
  /** Wall clock at the reserve, ISO 8601. */
  readonly reservedAt: string;
  readonly killAfterMs: number | null;
  /** Null where there is none, or none any more. */
  readonly cgroup: CgroupRecord | null;
}

export function handleOf(callId: number): Handle {
  return `p${callId}` as Handle;
}

export function callIdOf(handle: string): number | undefined {
  const match = /^p([1-9][0-9]{0,14})$/.exec(handle);
  return match ? Number(match[1]) : undefined;
}

export class CallRows {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  find(chatId: ChatId, key: ExecutionKey): CallRow | undefined {
    return toCall(this.#sql('SELECT * FROM calls WHERE chat_id = ? AND key = ?').get(chatId, key));
  }

  /** By handle, only within its chat: a foreign process and an unknown one look the same (A4). */
  findByHandle(chatId: ChatId, handle: string): CallRow | undefined {
    const id = callIdOf(handle);
    if (id === undefined) return undefined;
    return toCall(this.#sql('SELECT * FROM calls WHERE id = ? AND chat_id = ?').get(id, chatId));
  }

  findById(id: number): CallRow | undefined {
    return toCall(this.#sql('SELECT * FROM calls WHERE id = ?').get(id));
  }

  require(id: number): CallRow {
    const row = this.findById(id);
    if (row === undefined) throw new Error(`journal row ${id} is missing`);
    return row;
  }

  requireAttempt(callId: number, attempt: number): AttemptRow {
    const row = this.#sql('SELECT * FROM attempts WHERE call_id = ? AND attempt = ?').get(callId, attempt);
    if (row === undefined) throw new Error(`attempt ${attempt} of journal row ${callId} is missing`);
    return toAttempt(row);
  }

  listWithCgroup(): AttemptRow[] {
    return this.#sql('SELECT * FROM attempts WHERE cgroup_path IS NOT NULL').all().map(toAttempt);
  }

  forgetCgroup(callId: number, attempt: number): void {
    this.#sql('UPDATE attempts SET cgroup_path = NULL, cgroup_inode = NULL WHERE call_id = ? AND attempt = ?').run(
      callId,
      attempt,
    );
  }

  listOpen(): CallRow[] {
    return this.#sql("SELECT * FROM calls WHERE state = 'open' ORDER BY id").all().flatMap(toCalls);
  }

  listOfChat(chatId: ChatId, options: { afterId: number; limit: number; onlyOpen: boolean }): CallRow[] {
    const onlyOpen = options.onlyOpen ? "AND state = 'open'" : '';
    return this.#sql(`SELECT * FROM calls WHERE chat_id = ? AND id > ? ${onlyOpen} ORDER BY id LIMIT ?`)
      .all(chatId, options.afterId, options.limit)
      .flatMap(toCalls);
  }

  counts(): { open: number; calls: number } {
    const row = this.#sql("SELECT count(*) AS calls, count(*) FILTER (WHERE state = 'open') AS open FROM calls").get();
    return { open: Number(row?.['open']), calls: Number(row?.['calls']) };
  }

  chat(chatId: ChatId): { readonly highestMessageId: number; readonly cutoff: number } {
    const row = this.#sql('SELECT highest_message_id, cutoff FROM chats WHERE chat_id = ?').get(chatId);
    return { highestMessageId: Number(row?.['highest_message_id'] ?? 0), cutoff: Number(row?.['cutoff'] ?? 0) };
  }

  insert(call: {
    chatId: ChatId;
    key: ExecutionKey;
    messageId: MessageId;
    nonce: Nonce;
    fingerprint: string | null;
    state: 'open' | 'fenced';
    isBackground: boolean;
    commandLine: string;
    reason: string | null;
  }): number {
    this.#sql(
      `INSERT INTO chats (chat_id, highest_message_id) VALUES (?, ?)
       ON CONFLICT (chat_id) DO UPDATE SET highest_message_id = max(highest_message_id, excluded.highest_message_id)`,
    ).run(call.chatId, call.messageId);
    const result = this.#sql(
      `INSERT INTO calls (chat_id, key, message_id, nonce, fingerprint, state, background, command_line, reason, ended_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      call.chatId,
      call.key,
      call.messageId,
      call.nonce,
      call.fingerprint,
      call.state,
      call.isBackground ? 1 : 0,
      call.commandLine,
      call.reason,
      call.state === 'fenced' ? nowText() : null,
    );
    return Number(result.lastInsertRowid);
  }

  /** Attempt n+1 beneath a row; the row is open again. Committed before the launch (K3). */
  insertAttempt(attempt: AttemptRow): void {
    this.#sql(
      `INSERT INTO attempts (call_id, attempt, boot_id, pid_namespace, reserved_boot_ms, reserved_at, kill_after_ms,
         cgroup_path, cgroup_inode)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      attempt.callId,
      attempt.attempt,
      attempt.bootId,
      attempt.pidNamespace,
      attempt.reservedBootMs,
      attempt.reservedAt,
      attempt.killAfterMs,
      attempt.cgroup?.path ?? null,
      attempt.cgroup?.inode ?? null,
    );
    this.#sql("UPDATE calls SET state = 'open', attempt = ?, expired_total = NULL, ended_at = NULL WHERE id = ?").run(
      attempt.attempt,
      attempt.callId,
    );
  }

  /** Ends an open row. Returns false when it was not open any more: what stands, stands. */
  settle(end: {
    id: number;
    attempt: number;
    state: 'exited' | 'spawn_failed' | 'lost' | 'void' | 'fenced';
    exitCode?: number;
    durationMs?: number;
    killedBy?: KillCause;
    reason?: string;
  }): boolean {
    const result = this.#sql(
      `UPDATE calls SET state = ?, exit_code = ?, duration_ms = ?, killed_by = ?, reason = ?, ended_at = ?
       WHERE id = ? AND attempt = ? AND state = 'open'`,
    ).run(
      end.state,
      end.exitCode ?? null,
      end.durationMs ?? null,
      end.killedBy ?? null,
      end.reason ?? null,
      nowText(),
      end.id,
      end.attempt,
    );
    if (result.changes === 0) return false;
    this.#sql('UPDATE attempts SET settled = ? WHERE call_id = ? AND attempt = ?').run(end.state, end.id, end.attempt);
    return true;
  }

  fenceVoid(id: number, reason: string): void {
    this.#sql("UPDATE calls SET state = 'fenced', reason = ? WHERE id = ? AND state = 'void'").run(reason, id);
  }

  setFenceRequested(id: number, isRequested: boolean): void {
    this.#sql('UPDATE calls SET fence_requested = ? WHERE id = ?').run(isRequested ? 1 : 0, id);
  }

  /** The first one stands, but a signal by name, which need not end anything, gives way to a kill. */
  setKillIntent(id: number, cause: KillCause): void {
    this.#sql(
      `UPDATE calls SET kill_intent = ?
       WHERE id = ? AND state = 'open' AND (kill_intent IS NULL OR kill_intent = 'signal')`,
    ).run(cause, id);
  }

  /** The journal was replaced: whatever was open can't be vouched for any more. */
  loseAllOpen(reason: string): void {
    this.#sql("UPDATE calls SET state = 'lost', reason = ?, ended_at = ? WHERE state = 'open'").run(reason, nowText());
  }

  countOpenOfChat(chatId: ChatId): number {
    return Number(this.#sql("SELECT count(*) AS n FROM calls WHERE state = 'open' AND chat_id = ?").get(chatId)?.['n']);
  }

  /** Ended rows whose output is still kept although it ended before `endedBefore` (ISO 8601). */
  listForExpiry(endedBefore: string, limit: number): CallRow[] {
    return this.#sql(
      `SELECT * FROM calls WHERE state <> 'open' AND ended_at < ? AND expired_total IS NULL ORDER BY id LIMIT ?`,
    )
      .all(endedBefore, limit)
      .flatMap(toCalls);
  }

  /** The output is dropped: from now on the row is a receipt. Committed before the files go. */
  expireOutput(id: number, total: number): void {
    this.#sql("UPDATE calls SET expired_total = ? WHERE id = ? AND state <> 'open'").run(total, id);
  }

  /**
   * Drops receipts that ended before `endedBefore`, and raises their chats' cutoffs over them, so that their keys are
   * `expired` and never run again. A message with an open row, or one above it, keeps its rows: the cutoff never passes
   * an open row.
   */
  dropReceipts(endedBefore: string): number {
    const condition = `state <> 'open' AND expired_total IS NOT NULL AND ended_at < ? AND NOT EXISTS (
      SELECT 1 FROM calls AS open WHERE open.state = 'open' AND open.chat_id = calls.chat_id
      AND open.message_id <= calls.message_id)`;
    this.#sql(
      `UPDATE chats SET cutoff = max(cutoff, coalesce(
         (SELECT max(message_id) FROM calls WHERE calls.chat_id = chats.chat_id AND ${condition}), 0))`,
    ).run(endedBefore);
    const doomed = `SELECT id FROM calls WHERE ${condition}`;
    this.#sql(`DELETE FROM signals WHERE call_id IN (${doomed})`).run(endedBefore);
    this.#sql(`DELETE FROM attempts WHERE call_id IN (${doomed})`).run(endedBefore);
    return Number(this.#sql(`DELETE FROM calls WHERE ${condition}`).run(endedBefore).changes);
  }

  findSignal(callId: number, id: string): { readonly signal: string; readonly outcome: string | null } | undefined {
    const row = this.#sql('SELECT signal, outcome FROM signals WHERE call_id = ? AND id = ?').get(callId, id);
    return row && { signal: row['signal'] as string, outcome: row['outcome'] as string | null };
  }

  /** The latest signal that was sent on request with this name: it may explain an exit. */
  hasSignal(callId: number, signal: string): boolean {
    return this.#sql('SELECT 1 FROM signals WHERE call_id = ? AND signal = ?').get(callId, signal) !== undefined;
  }

  insertSignal(callId: number, id: string, signal: string, outcome: string | null): void {
    this.#sql('INSERT INTO signals (call_id, id, signal, outcome) VALUES (?, ?, ?, ?)').run(
      callId,
      id,
      signal,
      outcome,
    );
  }

  setSignalOutcome(callId: number, id: string, outcome: string): void {
    this.#sql('UPDATE signals SET outcome = ? WHERE call_id = ? AND id = ?').run(outcome, callId, id);
  }

  #sql(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      statement = this.#database.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }
}

/** Wall clock: what is kept for days must be judged over reboots. */
function nowText(): string {
  return new Date().toISOString();
}

type Row = Record<string, unknown>;

function toAttempt(row: Row): AttemptRow {
  const path = row['cgroup_path'] as string | null;
  return {
    callId: row['call_id'] as number,
    attempt: row['attempt'] as number,
    bootId: row['boot_id'] as string,
    pidNamespace: row['pid_namespace'] as string,
    reservedBootMs: row['reserved_boot_ms'] as number,
    reservedAt: row['reserved_at'] as string,
    killAfterMs: row['kill_after_ms'] as number | null,
    cgroup: path === null ? null : { path, inode: row['cgroup_inode'] as string },
  };
}

function toCalls(row: Row): CallRow[] {
  const call = toCall(row);
  return call === undefined ? [] : [call];
}

function toCall(row: Row | undefined): CallRow | undefined {
  if (row === undefined) return undefined;
  return {
    id: row['id'] as number,
    chatId: row['chat_id'] as ChatId,
    key: row['key'] as ExecutionKey,
    nonce: row['nonce'] as Nonce,
    fingerprint: row['fingerprint'] as string | null,
    state: row['state'] as CallState,
    isFenceRequested: row['fence_requested'] === 1,
    isBackground: row['background'] === 1,
    commandLine: row['command_line'] as string,
    attempt: row['attempt'] as number,
    killIntent: row['kill_intent'] as KillCause | null,
    killedBy: row['killed_by'] as KillCause | null,
    exitCode: row['exit_code'] as number | null,
    durationMs: row['duration_ms'] as number | null,
    reason: row['reason'] as string | null,
    expiredTotal: row['expired_total'] as number | null,
  };
}
