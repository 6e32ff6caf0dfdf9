import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Kysely } from 'kysely';
import type { Dialect } from 'kysely';
import { Refusal } from '../contract/failures.ts';
import { migrateToLatest } from './migrations.ts';
import type { Schema } from './schema.ts';
import { createSqliteDialect } from './sqlite/dialect.ts';
import { createStore } from './store.ts';
import type { Store } from './store.ts';

/**
 * Opens the store and brings its tables up to date. `url` is `sqlite:<path>` or a plain path; missing folders are
 * made. Throws a refusal (`configuration`) that names the URL and the cause when it can't be opened.
 */
export async function openStore(url: string): Promise<Store> {
  const path = sqlitePath(url);
  let db: Kysely<Schema> | undefined;
  try {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
    db = new Kysely<Schema>({ dialect: createSqliteDialect(path) satisfies Dialect });
    await migrateToLatest(db);
    return createStore(db);
  } catch (error) {
    await db?.destroy();
    throw new Refusal('configuration', `the store ${url} can't be opened: ${causeOf(error)}`, 'store');
  }
}

function sqlitePath(url: string): string {
  const scheme = /^([a-z][a-z0-9+]+):/i.exec(url)?.[1]?.toLowerCase();
  const path = scheme === 'sqlite' ? url.slice('sqlite:'.length) : url;
  if ((scheme !== undefined && scheme !== 'sqlite') || path === '') {
    throw new Refusal('configuration', `the store is given as sqlite:<path> or a path, not as "${url}"`, 'store');
  }
  return path === ':memory:' ? path : resolve(path);
}

/** The message, and that of what is behind it. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${causeOf(error.cause)}`;
}
