import { createHmac } from 'node:crypto';

export interface WebhookToSign {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
  readonly secrets: readonly Uint8Array[];
}

/** The headers of the Standard Webhooks convention: one signature a secret, of id, time and body. */
export function signWebhook({ id, timestampSeconds, body, secrets }: WebhookToSign): Record<string, string> {
  const signed = `${id}.${timestampSeconds}.${body}`;
  const signatures = secrets.map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}
