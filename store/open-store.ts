import { openDatabase } from './open-database.ts';
import { createStore } from './store.ts';
import type { Store } from './store.ts';

/**
 * Opens the store and brings its tables up to date. `url` is `sqlite:<path>`, a plain path, or
 * `postgres://user:password@host:port/database`. Throws a refusal (`configuration`) when it can't be opened.
 */
export async function openStore(url: string): Promise<Store> {
  const { db } = await openDatabase(url);
  return createStore(db);
}
