/**
 * The fingerprint of a start: the same key with another one is refused (K4).
 *
 * Over requested values, so that it still matches when a default has since changed (A06). Not the display intent, the
 * wait budget or killAfterMs: the first one wins. Environment values only as an HMAC with a journal-local key.
 */
import { createHash, createHmac } from 'node:crypto';
import type { StartRequest } from '../contract/wire/start.ts';

export type FingerprintInput = Pick<StartRequest, 'chatId' | 'nonce' | 'command' | 'workdir' | 'env' | 'background'>;

export function fingerprintOf(request: FingerprintInput, environmentKey: string): string {
  const environment = Object.entries(request.env ?? {})
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => [name, createHmac('sha256', environmentKey).update(value).digest('hex')]);
  const canonical = JSON.stringify([
    'latchkey-fingerprint-1',
    request.chatId,
    request.nonce,
    request.command,
    request.workdir ?? null,
    environment,
    request.background,
  ]);
  return createHash('sha256').update(canonical).digest('hex');
}
