/**
 * Kysely's PostgreSQL dialect over a pool of `pg`, with one departure: each kind of transaction names its isolation
 * level, whatever the server's default is. A change reads what is committed now, after its lock on the chat
 * (transaction.ts); reads of several tables see one snapshot, as they do in SQLite.
 */
import { CompiledQuery, PostgresDialect, PostgresDriver } from 'kysely';
import type { DatabaseConnection, Dialect, TransactionSettings } from 'kysely';
import { createPool } from './pool.ts';

class LevelledDriver extends PostgresDriver {
  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const isRead = settings.accessMode === 'read only';
    const begin = isRead ? 'isolation level repeatable read read only' : 'isolation level read committed read write';
    await connection.executeQuery(CompiledQuery.raw(`start transaction ${begin}`));
  }
}

export interface PostgresPlace {
  readonly url: string;
  /** 0: none, for migrations, which may rewrite large tables. */
  readonly statementTimeoutMs: number;
}

export function createPostgresDialect(place: PostgresPlace): Dialect {
  const pool = createPool(place);
  const dialect = new PostgresDialect({ pool });
  return {
    createDriver: () => new LevelledDriver({ pool }),
    createAdapter: () => dialect.createAdapter(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  };
}
