/**
 * The one place where the command line reads the store itself, by a late import, until the gateway serves the stream
 * (see client/README.md). Types too come from here only.
 */
import { CodedError } from '../contract/failures.ts';

export type Store = Awaited<ReturnType<(typeof import('../store/open-store.ts'))['openStore']>>;
export type StreamEvent = Awaited<ReturnType<Store['readEvents']>>[number];
export type StoredCall = NonNullable<Awaited<ReturnType<Store['findCall']>>>;

export async function openStore(url: string): Promise<Store> {
  const store = await import('../store/open-store.ts').catch((error: unknown) => {
    throw new CodedError('configuration', `the store's code can't be loaded: ${String(error)}`, 'store');
  });
  return store.openStore(url);
}
