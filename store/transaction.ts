/**
 * The only ways into a transaction. A change is repeated when the database gave it up for a passing reason, so what
 * runs in it must do nothing outside of the database.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import type { ChatId } from '../contract/ids.ts';
import type { Database } from './database.ts';
import { isLostConnection, isUndone } from './postgres/passing-failures.ts';
import type { Schema } from './schema.ts';

/** A restart of the database server takes seconds; an activity or a person tries again after that. */
const REPEAT_MS_MAX = 10_000;
const FIRST_PAUSE_MS = 20;
const PAUSE_MS_MAX = 500;

/**
 * One change of one chat. It holds the chat's row from its first statement to its commit, so that changes of a chat
 * happen one after the other on every database: each sees what the one before it made of turn, step, queue and event
 * numbers (T1, S1). It takes that one lock only, so two changes never wait for each other.
 */
export async function changeChat<Result>(
  db: Database,
  chatId: ChatId,
  change: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async (trx) => {
    // SQLite has no such lock and needs none: its write transactions exclude each other (sqlite/dialect.ts).
    await trx.selectFrom('chats').select('id').where('id', '=', chatId).forUpdate().executeTakeFirst();
    return change(trx);
  });
}

/** For a change that is no chat's, or that makes the chat. Everything else goes through `changeChat`. */
export async function inTransaction<Result>(
  db: Database,
  change: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  let isCommitting = false;
  const once = (): Promise<Result> =>
    db.transaction().execute(async (trx) => {
      isCommitting = false;
      const result = await change(trx);
      isCommitting = true;
      return result;
    });
  // A connection that is lost while the commit is under way may have lost its answer only: nobody knows, so the caller
  // is told, whose own repeat looks at what is stored.
  return repeatPassing(once, (error) => isUndone(error) || (!isCommitting && isLostConnection(error)));
}

/** Reads that see one state of the database, whatever is committed between them. */
export async function inSnapshot<Result>(
  db: Database,
  read: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return readAgain(() => db.transaction().setAccessMode('read only').execute(read));
}

/** A read, again when its connection was lost. */
export async function readAgain<Result>(read: () => Promise<Result>): Promise<Result> {
  return repeatPassing(read, (error) => isUndone(error) || isLostConnection(error));
}

async function repeatPassing<Result>(
  once: () => Promise<Result>,
  isPassing: (error: unknown) => boolean,
): Promise<Result> {
  const giveUpAtMs = performance.now() + REPEAT_MS_MAX;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return await once();
    } catch (error) {
      if (!isPassing(error) || performance.now() > giveUpAtMs) throw error;
    }
    await sleep(pauseMs * (0.5 + Math.random()));
  }
}
