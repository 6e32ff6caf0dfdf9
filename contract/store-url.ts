/** Where a store is, as settings name it: `sqlite:<path>`, a path, or `postgres://user:password@host:port/database`. */

export function isPostgresUrl(url: string): boolean {
  return /^postgres(ql)?:/i.test(url);
}

/** The URL as people and logs may see it: without its password, whether it stands before the host or is a parameter. */
export function showStoreUrl(url: string): string {
  if (!isPostgresUrl(url)) return url;
  // Up to the last `@`: one in a password that was not escaped must not end it here.
  return url
    .replace(/^([a-z]+:\/\/[^:/@]*):.*@/i, '$1:***@')
    .replace(/([?&](?:password|sslpassword)=)[^&]*/gi, '$1***');
}
