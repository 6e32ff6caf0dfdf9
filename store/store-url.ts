import { resolve } from 'node:path';
import { Refusal } from '../contract/failures.ts';
import { isPostgresUrl, showStoreUrl } from '../contract/store-url.ts';

export type StorePlace =
  { readonly kind: 'sqlite'; readonly path: string } | { readonly kind: 'postgres'; readonly url: string };

/** Throws a refusal (`configuration`) that says how a store is given; it never repeats a password. */
export function parseStoreUrl(url: string): StorePlace {
  if (isPostgresUrl(url)) {
    refuseUnreadable(url);
    return { kind: 'postgres', url };
  }
  const scheme = /^([a-z][a-z0-9+]+):/i.exec(url)?.[1]?.toLowerCase();
  const path = scheme === 'sqlite' ? url.slice('sqlite:'.length) : url;
  if ((scheme !== undefined && scheme !== 'sqlite') || path === '') {
    throw new Refusal(
      'configuration',
      `the store is given as sqlite:<path>, a path, or postgres://user:password@host:port/database, not as "${url}"`,
      'store',
    );
  }
  return { kind: 'sqlite', path: path === ':memory:' ? path : resolve(path) };
}

function refuseUnreadable(url: string): void {
  // A user without a host is what `pg` reads, and no URL in the strict sense: the socket's folder is a parameter.
  if (URL.canParse(url.replace('@/', '@localhost/')) && /^postgres(ql)?:\/\//i.test(url)) return;
  throw new Refusal(
    'configuration',
    `the store ${showStoreUrl(url)} can't be read as postgres://user:password@host:port/database: ` +
      'write characters such as / # ? @ : % of user and password as %2F %23 %3F %40 %3A %25',
    'store',
  );
}
