/** Opens the tables of a store, wherever they are. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely } from 'kysely';
import { Refusal } from '../contract/failures.ts';
import { showStoreUrl } from '../contract/store-url.ts';
import { migrateToLatest, NOT_MADE_YET, readMigrations, refuseNewer } from './migrate.ts';
import type { MigrationsSeen } from './migrate.ts';
import { createPostgresDialect } from './postgres/dialect.ts';
import { STATEMENT_TIMEOUT_MS } from './postgres/pool.ts';
import { readServer } from './postgres/server.ts';
import type { Schema } from './schema.ts';
import { createSqliteDialect } from './sqlite/dialect.ts';
import { parseStoreUrl } from './store-url.ts';
import type { StorePlace } from './store-url.ts';

export interface MigratedDatabase {
  readonly db: Kysely<Schema>;
  /** What was applied just now, oldest first. */
  readonly applied: readonly string[];
}

/**
 * Opens the database and brings its tables up to date; missing folders are made. Several processes may do so at once.
 * Throws a refusal (`configuration`) that names the store, without its password, and the cause.
 */
export async function openDatabase(url: string): Promise<MigratedDatabase> {
  return connected(url, async (db, place, schema) => {
    const seen = await readMigrations(db, schema);
    refuseNewer(seen);
    if (seen.pending.length === 0) return { db, applied: [] };
    const applied =
      place.kind === 'sqlite' ? await migrateToLatest(db, schema) : await migrateUnhurried(place.url, schema);
    return { db, applied };
  });
}

/** What was applied and what would be; changes nothing, makes no file, and refuses no database for being newer. */
export async function inspectMigrations(url: string): Promise<MigrationsSeen> {
  const parsed = parseStoreUrl(url);
  if (parsed.kind === 'sqlite' && !existsSync(parsed.path)) return NOT_MADE_YET;
  return connected(url, async (db, _place, schema) => {
    const seen = await readMigrations(db, schema);
    await db.destroy();
    return seen;
  });
}

async function connected<Result>(
  url: string,
  use: (db: Kysely<Schema>, place: StorePlace, schema: string | undefined) => Promise<Result>,
): Promise<Result> {
  const place = parseStoreUrl(url);
  let db: Kysely<Schema> | undefined;
  try {
    db = connect(place);
    const schema = place.kind === 'sqlite' ? undefined : (await readServer(db)).schema;
    return await use(db, place, schema);
  } catch (error) {
    await db?.destroy();
    throw new Refusal('configuration', `the store ${showStoreUrl(url)} can't be opened: ${causeOf(error)}`, 'store');
  }
}

function connect(place: StorePlace): Kysely<Schema> {
  if (place.kind === 'postgres') {
    return new Kysely({ dialect: createPostgresDialect({ ...place, statementTimeoutMs: STATEMENT_TIMEOUT_MS }) });
  }
  if (place.path !== ':memory:') mkdirSync(dirname(place.path), { recursive: true });
  return new Kysely({ dialect: createSqliteDialect(place.path) });
}

/** On connections of its own: a migration of large tables takes longer than any other statement may. */
async function migrateUnhurried(url: string, schema: string | undefined): Promise<readonly string[]> {
  const db = new Kysely<Schema>({ dialect: createPostgresDialect({ url, statementTimeoutMs: 0 }) });
  try {
    return await migrateToLatest(db, schema);
  } finally {
    await db.destroy();
  }
}

/** The message, and that of what is behind it. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A name with several addresses fails with one error for each, and no message of its own.
  const message = error.message === '' && error instanceof AggregateError ? causeOf(error.errors[0]) : error.message;
  return error.cause === undefined ? message : `${message}: ${causeOf(error.cause)}`;
}
