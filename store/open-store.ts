import { ChatChanges } from './chat-changes.ts';
import type { HintSource } from './chat-changes.ts';
import { openDatabase } from './open-database.ts';
import { postgresChangeHints } from './postgres/change-hints.ts';
import { sqliteChangeHints } from './sqlite/change-hints.ts';
import { parseStoreUrl } from './store-url.ts';
import { createStore } from './store.ts';
import type { Store } from './store.ts';

export interface OpenStoreOptions {
  /** As if every notification of a change were lost; for tests. */
  readonly dropsNotifications?: boolean;
}

/**
 * Opens the store and brings its tables up to date. `url` is `sqlite:<path>`, a plain path, or
 * `postgres://user:password@host:port/database`. Throws a refusal (`configuration`) when it can't be opened.
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const { db } = await openDatabase(url);
  return createStore(db, new ChatChanges(db, options.dropsNotifications === true ? undefined : changeHintsOf(url)));
}

function changeHintsOf(url: string): HintSource | undefined {
  const place = parseStoreUrl(url);
  if (place.kind === 'postgres') return postgresChangeHints(place.url);
  // One that is in memory has a single connection, which sees no commit of another.
  return place.path === ':memory:' ? undefined : sqliteChangeHints(place.path);
}
