/**
 * The one place where the command line reads the store itself, by a late import, until the gateway serves the stream
 * (see client/README.md). Types too come from here only.
 */
// oxlint-disable-next-line no-restricted-imports -- the exception that this file is
import type { StoredCall } from '../store/call-row.ts';
// oxlint-disable-next-line no-restricted-imports -- as above
import type { Store } from '../store/store.ts';
// oxlint-disable-next-line no-restricted-imports -- as above
import type { StreamEvent } from '../store/stream-events.ts';

export type { Store, StoredCall, StreamEvent };

export async function openStore(url: string): Promise<Store> {
  // oxlint-disable-next-line no-restricted-imports -- as above
  const store = await import('../store/open-store.ts');
  return store.openStore(url);
}
