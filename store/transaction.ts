/**
 * The only ways into a transaction. A change is repeated when the database gave it up for a passing reason, so what
 * runs in it must do nothing outside of the database.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Selectable, Transaction } from 'kysely';
import type { ChatId } from '../contract/ids.ts';
import type { Database } from './database.ts';
import { isLostConnection, isUndone } from './postgres/passing-failures.ts';
import type { ChatRow, Schema } from './schema.ts';

/** A restart of the database server takes seconds; an activity or a person tries again after that. */
const REPEAT_MS_MAX = 10_000;
const FIRST_PAUSE_MS = 20;
const PAUSE_MS_MAX = 500;

/**
 * One change of one chat. It holds the chat's row from its first statement to its commit, so that changes of a chat
 * happen one after the other on every database: each sees what the one before it made of turn, step, queue and event
 * numbers (T1, S1). It takes that one lock only, so two changes never wait for each other. The change is given the row
 * as the lock found it; undefined where there is no such chat.
 */
export async function changeChat<Result>(
  db: Database,
  chatId: ChatId,
  change: (trx: Transaction<Schema>, chat: Selectable<ChatRow> | undefined) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async (trx) => {
    // SQLite has no such lock and needs none: its write transactions exclude each other (sqlite/dialect.ts).
    const chat = await trx.selectFrom('chats').selectAll().where('id', '=', chatId).forUpdate().executeTakeFirst();
    return change(trx, chat);
  });
}

/** For a change that is no chat's, or that makes the chat. Everything else goes through `changeChat`. */
export async function inTransaction<Result>(
  db: Database,
  change: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return repeatPassing(async () => {
    let isCommitting = false;
    try {
      return await db.transaction().execute(async (trx) => {
        const result = await change(trx);
        isCommitting = true;
        return result;
      });
    } catch (error) {
      if (!isCommitting || !isLostConnection(error)) throw error;
      // Only the answer may be lost, so it isn't repeated here; the caller's own repeat looks at what is stored.
      throw new Error(DOUBTFUL, { cause: error });
    }
  });
}

const DOUBTFUL = 'the connection to the store broke in a commit: whether the change is there is not known';

/** Reads that see one state of the database, whatever is committed between them. */
export async function inSnapshot<Result>(
  db: Database,
  read: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return readAgain(() => db.transaction().setAccessMode('read only').execute(read));
}

/** A read, again when its connection was lost. */
export async function readAgain<Result>(read: () => Promise<Result>): Promise<Result> {
  return repeatPassing(read);
}

async function repeatPassing<Result>(once: () => Promise<Result>): Promise<Result> {
  const giveUpAtMs = performance.now() + REPEAT_MS_MAX;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return await once();
    } catch (error) {
      const isPassing = isUndone(error) || isLostConnection(error);
      if (!isPassing || performance.now() > giveUpAtMs) throw error;
    }
    await sleep(pauseMs * (0.5 + Math.random()));
  }
}
