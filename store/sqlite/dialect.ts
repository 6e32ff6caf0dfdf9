/**
 * Kysely's SQLite dialect over `node:sqlite`, with three departures.
 *
 * A write transaction begins IMMEDIATE: a deferred one fails at its first write when another process wrote since its
 * first read. The wait for the lock is asynchronous, since the holder may be another connection of this very process,
 * which a blocked event loop would never let finish. Definitions of tables are transactional, so that two processes
 * that open a new file at once migrate it one after the other. `for update` is left out: SQLite doesn't know it, and
 * whoever writes holds the whole file.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, SqliteAdapter, SqliteDialect, SqliteDriver, SqliteQueryCompiler } from 'kysely';
import type { DatabaseConnection, Dialect, SelectModifierNode, TransactionSettings } from 'kysely';
import { asKyselyDatabase, BUSY_TIMEOUT_MS, openDatabase } from './database.ts';

const LOCK_RETRY_MS = 5;

class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    if (settings?.accessMode === 'read only') {
      await run(connection, 'begin');
      return;
    }
    const giveUpAtMs = performance.now() + BUSY_TIMEOUT_MS;
    for (;;) {
      if (await beginsImmediately(connection)) return;
      if (performance.now() > giveUpAtMs) {
        throw new Error(`the store was locked by another writer for ${BUSY_TIMEOUT_MS / 1000} s`);
      }
      await sleep(LOCK_RETRY_MS * (1 + Math.random()));
    }
  }
}

async function beginsImmediately(connection: DatabaseConnection): Promise<boolean> {
  await run(connection, 'PRAGMA busy_timeout = 0');
  try {
    await run(connection, 'begin immediate');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  } finally {
    await run(connection, `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

async function run(connection: DatabaseConnection, sql: string): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw(sql));
}

/** SQLITE_BUSY is 5; its extended codes (recovery, snapshot) have it in the low byte. */
function isBusy(error: unknown): boolean {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' && (code & 0xff) === 5;
}

class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class LocklessCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== 'ForUpdate') super.visitSelectModifier(node);
  }
}

/** Opens `path` at once, so that a file that can't be opened is refused here and not by the first query. */
export function createSqliteDialect(path: string): Dialect {
  const database = asKyselyDatabase(openDatabase(path));
  const dialect = new SqliteDialect({ database });
  return {
    createDriver: () => new ImmediateDriver({ database }),
    createAdapter: () => new TransactionalAdapter(),
    createQueryCompiler: () => new LocklessCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  };
}
