import { Pool, types } from 'pg';
import type { ClientBase } from 'pg';

/** Of each process. A turn worker's activities wait for the model most of the time, not for the database. */
const CONNECTIONS_MAX = 10;
/** For a new connection, and for a free one of the pool. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than any statement of ours takes on a sound server. */
export const STATEMENT_TIMEOUT_MS = 30_000;
/** A process that was frozen in a change must not hold its chat: as long as SQLite would wait for a lock. */
const IDLE_IN_TRANSACTION_MS = 5_000;
/** Above the former, so that whoever waits for such a process gets the lock and no error. */
const LOCK_TIMEOUT_MS = 10_000;
/** Asked of the client's clock: a server that vanished without a word answers no time-out of its own. */
const SILENT_SERVER_MS = 15_000;

/** Counts and ids are below 2^53 by far; `pg` would give them as text. */
const readInteger = (text: string): number => Number(text);

export function createPool(options: { readonly url: string; readonly statementTimeoutMs: number }): Pool {
  const { url, statementTimeoutMs } = options;
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    application_name: 'latchkey',
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types don't say
    onConnect: ensureDurability,
    types: {
      getTypeParser: (id, format) => (id === types.builtins.INT8 ? readInteger : types.getTypeParser(id, format)),
    },
    ...(statementTimeoutMs === 0
      ? {}
      : {
          statement_timeout: statementTimeoutMs,
          lock_timeout: LOCK_TIMEOUT_MS,
          query_timeout: statementTimeoutMs + SILENT_SERVER_MS,
        }),
  });
  // Without a listener a connection that breaks while nobody asks it anything would end the process. The pool drops it;
  // one that is in use fails its next statement, which is where it is dealt with.
  const ignore = (): void => undefined;
  pool.on('error', ignore);
  pool.on('connect', (client) => void client.on('error', ignore));
  return pool;
}

/**
 * What is told must be on disk, as in SQLite: a target that is forgotten would be a call without one (K5). The pool's hook
 * and not Kysely's, which never gives back a connection that breaks in it.
 */
async function ensureDurability(client: ClientBase): Promise<void> {
  await client.query(
    `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`,
  );
}
