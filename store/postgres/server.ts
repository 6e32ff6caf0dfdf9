import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Schema } from '../schema.ts';

export interface PostgresServer {
  /** Where unqualified names of tables go. */
  readonly schema: string;
  readonly version: string;
}

/** Throws when no store can be kept there, and says what to do. */
export async function readServer(db: Kysely<Schema>): Promise<PostgresServer> {
  const { rows } = await sql<{ encoding: string; schema: string | null; version: string; standby: boolean }>`
    select current_setting('server_encoding') as encoding, current_schema() as schema,
      current_setting('server_version') as version, pg_is_in_recovery() as standby`.execute(db);
  const server = rows[0];
  if (server === undefined) throw new Error('the server said nothing about itself');
  const { encoding, schema, version, standby } = server;
  if (encoding !== 'UTF8') {
    throw new Error(`its encoding is ${encoding}: make the database with ENCODING 'UTF8' TEMPLATE template0`);
  }
  if (standby) throw new Error('this server is a standby, which takes no writes: name the primary one');
  if (schema === null) throw new Error('the search_path of this user names no schema that exists: create one');
  return { schema, version };
}
