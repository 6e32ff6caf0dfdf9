/**
 * The journal: every key ever dispatched to this agent, in SQLite with WAL and FULL sync (K3).
 *
 * Owns: the database connection and the sequence, which counts commits. Doesn't own: what rows mean (call-rows.ts).
 *   1. Work handed to `commit` in one event-loop turn goes into one transaction; its promise settles after the fsync.
 *   2. Nothing is ever read from an open transaction: the transaction begins and ends within one synchronous callback.
 *   3. After each commit the sequence is in the witness before anybody is told.
 */
import { DatabaseSync } from 'node:sqlite';
import { CodedError, findFailureCode } from '../../contract/failures.ts';
import { JOURNAL_SCHEMA, JOURNAL_VERSION } from './schema.ts';

interface PendingWork {
  readonly isEnding: boolean;
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

type Settled = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

export class Journal {
  readonly database: DatabaseSync;
  #sequence: number;
  #pending: PendingWork[] = [];
  #isClosed = false;
  #onCommit: (sequence: number) => void = () => undefined;
  #makeRoom: () => boolean = () => false;

  constructor(path: string) {
    this.database = new DatabaseSync(path, { timeout: 5000 });
    this.database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
    this.#createOrCheck(path);
    this.#sequence = Number(this.findMeta('sequence') ?? 0);
  }

  /** Of the last durable commit. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Called after each commit, before anybody is told of it. */
  onCommit(listener: (sequence: number) => void): void {
    this.#onCommit = listener;
    listener(this.#sequence);
  }

  /** Called when an ending finds the disk full: true when it has made room, and the commit is worth another try. */
  onDiskFull(makeRoom: () => boolean): void {
    this.#makeRoom = makeRoom;
  }

  findMeta(name: string): string | undefined {
    const row = this.database.prepare('SELECT value FROM meta WHERE name = ?').get(name);
    return row?.['value'] as string | undefined;
  }

  setMeta(name: string, value: string): void {
    this.database
      .prepare('INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
      .run(name, value);
  }

  /** The same as `commit`, for what ends something: it may use the space that is kept for that. */
  commitEnding<Value>(work: () => Value): Promise<Value> {
    return this.#enqueue(work, true);
  }

  /** Runs synchronous work in the next group transaction; resolves to its value once that is durable. */
  commit<Value>(work: () => Value): Promise<Value> {
    return this.#enqueue(work, false);
  }

  #enqueue<Value>(work: () => Value, isEnding: boolean): Promise<Value> {
    return new Promise<Value>((resolve, reject) => {
      if (this.#isClosed) {
        reject(new CodedError('closing', 'the agent is shutting down'));
        return;
      }
      if (this.#pending.push({ work, isEnding, resolve, reject }) === 1) setImmediate(() => this.#flush());
    });
  }

  /** The same at once, alone: for start-up, where nothing else runs. */
  commitNow<Value>(work: () => Value): Value {
    const [settled] = this.#runTransaction([work]);
    if (settled === undefined) throw new CodedError('agent_defect', 'a commit gave no result');
    if (!settled.ok) throw settled.error;
    return settled.value as Value;
  }

  close(): void {
    this.#flush();
    this.#isClosed = true;
    this.database.close();
  }

  #flush(): void {
    const group = this.#pending;
    this.#pending = [];
    if (group.length === 0) return;
    let results: Settled[];
    try {
      results = this.#runGroup(group);
    } catch (error) {
      const failure = toJournalFailure(error);
      for (const entry of group) entry.reject(failure);
      return;
    }
    group.forEach((entry, index) => {
      const settled = results[index];
      if (settled?.ok === true) entry.resolve(settled.value as never);
      else entry.reject(settled?.error);
    });
  }

  /** The group's transaction; what ends something, and found the disk full, gets one more try in the room kept for it. */
  #runGroup(group: readonly PendingWork[]): Settled[] {
    let results: Settled[];
    try {
      results = this.#runTransaction(group.map((entry) => entry.work));
    } catch (error) {
      const failure = toJournalFailure(error);
      results = group.map(() => ({ ok: false, error: failure }));
    }
    const again = group.filter((entry, index) => entry.isEnding && isDiskFull(results[index]));
    if (again.length === 0 || !this.#makeRoom()) return results;
    const second = this.#runTransaction(again.map((entry) => entry.work));
    return group.map((entry, index) => second[again.indexOf(entry)] ?? results[index] ?? NOT_RUN);
  }

  /** One transaction; each piece of work in a savepoint of its own, so that one that throws takes no other down. */
  #runTransaction(group: readonly (() => unknown)[]): Settled[] {
    const { database } = this;
    database.exec('BEGIN IMMEDIATE');
    try {
      const before = this.#totalChanges();
      const results = group.map((work): Settled => {
        database.exec('SAVEPOINT work');
        try {
          const value = work();
          database.exec('RELEASE work');
          return { ok: true, value };
        } catch (error) {
          database.exec('ROLLBACK TO work; RELEASE work');
          return { ok: false, error: error instanceof CodedError ? error : toJournalFailure(error) };
        }
      });
      if (this.#totalChanges() === before) {
        // Nothing was written: nothing to make durable, and the sequence counts commits.
        database.exec('ROLLBACK');
        return results;
      }
      this.setMeta('sequence', String(this.#sequence + 1));
      database.exec('COMMIT');
      this.#sequence += 1;
      this.#onCommit(this.#sequence);
      return results;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  #totalChanges(): number {
    return Number(this.database.prepare('SELECT total_changes() AS n').get()?.['n']);
  }

  #createOrCheck(path: string): void {
    const version = Number(this.database.prepare('PRAGMA user_version').get()?.['user_version']);
    if (version === 0) {
      this.database.exec(`BEGIN IMMEDIATE; ${JOURNAL_SCHEMA} PRAGMA user_version = ${JOURNAL_VERSION}; COMMIT;`);
    } else if (version !== JOURNAL_VERSION) {
      throw new CodedError(
        'configuration',
        `the journal ${path} has version ${version}, this agent knows ${JOURNAL_VERSION}: run the agent that made it`,
      );
    }
  }
}

const NOT_RUN: Settled = { ok: false, error: new CodedError('agent_defect', 'a commit gave no result') };

function isDiskFull(settled: Settled | undefined): boolean {
  return settled?.ok === false && findFailureCode(settled.error) === 'disk_full';
}

const SQLITE_FULL = 13;
const SQLITE_IOERR = 10;

function toJournalFailure(error: unknown): CodedError {
  const errcode = (error as { errcode?: number }).errcode;
  const message = error instanceof Error ? error.message : String(error);
  if (errcode !== undefined && ((errcode & 0xff) === SQLITE_FULL || (errcode & 0xff) === SQLITE_IOERR)) {
    return new CodedError('disk_full', `the journal could not be written, nothing was started: ${message}`);
  }
  return new CodedError('agent_defect', `the journal refused a write: ${message}`);
}
