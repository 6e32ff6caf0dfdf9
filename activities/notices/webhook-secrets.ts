import { Refusal } from '../../contract/failures.ts';

/** Who receives notices, and by which keys they are signed. */
export interface WebhookSettings {
  readonly url: string;
  readonly secrets: readonly Uint8Array[];
}

const VARIABLE = 'LATCHKEY_WEBHOOK_SECRET';
const PREFIX = 'whsec_';
/** Of the Standard Webhooks convention. */
const KEY_BYTES_MIN = 24;
const KEY_BYTES_MAX = 64;

/**
 * One or more `whsec_…` of base64, with blanks between: while a secret is replaced, a notice is signed by the old one
 * and the new one. Throws a refusal (`configuration`) whose text shows none of them.
 */
export function parseWebhookSecrets(text: string): readonly Uint8Array[] {
  return text.trim().split(/\s+/).map(parseSecret);
}

function parseSecret(text: string): Uint8Array {
  const base64 = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '';
  const key = /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? Buffer.from(base64, 'base64') : Buffer.alloc(0);
  if (key.length >= KEY_BYTES_MIN && key.length <= KEY_BYTES_MAX) return key;
  throw new Refusal(
    'configuration',
    `${VARIABLE} must be "${PREFIX}" and ${KEY_BYTES_MIN} to ${KEY_BYTES_MAX} random bytes in base64, ` +
      `such as: echo "${PREFIX}$(head -c 32 /dev/urandom | base64)"`,
    VARIABLE,
  );
}
