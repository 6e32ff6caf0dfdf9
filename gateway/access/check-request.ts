/** Whose request it is, before anything of it is read. */
import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from '../../contract/failures.ts';
import { EVERYTHING } from './tokens.ts';
import type { Access, Tokens } from './tokens.ts';

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * With tokens: the bearer's. Without: everything, but only for a request that names this machine as its host and comes
 * from no page of another site; any web page can make a browser ask loopback, or a name that was made to point there.
 */
export function checkRequest(headers: IncomingHttpHeaders, tokens: Tokens | undefined): Access {
  if (tokens !== undefined) {
    const given = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
    if (given === undefined) throw new Refusal('unauthorized', 'a bearer token of this gateway is needed');
    const access = tokens.findAccess(given);
    if (access === undefined) throw new Refusal('unauthorized', 'the token was refused: it is none of this gateway');
    return access;
  }
  const { host, origin } = headers;
  if (host === undefined || !LOOPBACK_HOST.test(host)) {
    throw new Refusal('unauthorized', 'without tokens this gateway answers only to names of this machine', 'host');
  }
  if (origin !== undefined && hostOf(origin) !== host) {
    throw new Refusal('unauthorized', 'without tokens this gateway answers no page of another site', 'origin');
  }
  return EVERYTHING;
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** A foreign chat gets the answer of one that isn't there (A4). */
export function requireAccess(access: Access, chatId: string): void {
  if (!access.mayUse(chatId)) throw unknownChat(chatId);
}

export function unknownChat(chatId: string): Refusal {
  return new Refusal('unknown_chat', `there is no chat ${chatId}`, 'chatId');
}
