/**
 * The one place where the command line reads the store itself, by a late import: it works where no gateway runs (see
 * client/README.md). Types too come from here only.
 */
// oxlint-disable-next-line no-restricted-imports -- the exception that this file is
import type { StoredCall } from '../store/call-row.ts';
// oxlint-disable-next-line no-restricted-imports -- as above
import type { ChatPage, ListedChat } from '../store/list-chats.ts';
// oxlint-disable-next-line no-restricted-imports -- as above
import type { MigrationsSeen } from '../store/migrate.ts';
// oxlint-disable-next-line no-restricted-imports -- as above
import type { Store } from '../store/store.ts';
// oxlint-disable-next-line no-restricted-imports -- as above
import type { StreamEvent } from '../store/stream-events.ts';
// oxlint-disable-next-line no-restricted-imports -- as above
import type { ChatFrame, FollowInput } from '../store/follow-chat.ts';

export type { ChatFrame, ChatPage, FollowInput, ListedChat, Store, StoredCall, StreamEvent };

export async function openStore(url: string): Promise<Store> {
  // oxlint-disable-next-line no-restricted-imports -- as above
  const store = await import('../store/open-store.ts');
  return store.openStore(url);
}

export async function inspectStore(url: string): Promise<MigrationsSeen> {
  // oxlint-disable-next-line no-restricted-imports -- as above
  const store = await import('../store/open-database.ts');
  return store.inspectMigrations(url);
}

/** Returns what was applied. */
export async function migrateStore(url: string): Promise<readonly string[]> {
  // oxlint-disable-next-line no-restricted-imports -- as above
  const store = await import('../store/open-database.ts');
  const { db, applied } = await store.openDatabase(url);
  await db.destroy();
  return applied;
}
