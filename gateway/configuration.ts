import { z } from 'zod';
import { CodedError } from '../contract/failures.ts';
import { parseAgentId } from '../contract/ids.ts';
import { TURN_TASK_QUEUE_DEFAULT } from '../contract/names.ts';
import { readSettings, setting } from '../workers/settings.ts';
import type { SettingSources } from '../workers/settings.ts';
import { readTokens } from './access/tokens.ts';

export const LISTEN_DEFAULT = '127.0.0.1:7244';

const PORT_MAX = 65_535;

const text = z.string().min(1, 'must not be empty');

const gatewaySettings = {
  listen: setting(
    'listen',
    'LATCHKEY_GATEWAY_LISTEN',
    text
      .regex(/^(\[[0-9a-f:.]+\]|[^:]+):\d{1,5}$/i, 'must be host:port')
      .refine((listen) => portOf(listen) <= PORT_MAX, `must have a port of 0 to ${PORT_MAX}`)
      .default(LISTEN_DEFAULT),
  ),
  storeUrl: setting(
    'store',
    'LATCHKEY_STORE',
    z.string({ error: 'give the store of the turn workers, such as sqlite:/var/lib/latchkey/store.db' }).min(1),
  ),
  turnQueue: setting('turn-queue', 'LATCHKEY_TURN_QUEUE', text.default(TURN_TASK_QUEUE_DEFAULT)),
  temporalAddress: setting('temporal-address', 'TEMPORAL_ADDRESS', text.optional()),
  temporalNamespace: setting('temporal-namespace', 'TEMPORAL_NAMESPACE', text.optional()),
  temporalUiUrl: setting(
    'temporal-ui',
    'LATCHKEY_TEMPORAL_UI',
    z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  ),
  /** Of chats that are made without naming one. */
  agentId: setting('agent', 'LATCHKEY_GATEWAY_AGENT', text.optional()),
  model: setting('model', 'LATCHKEY_MODEL', text.optional()),
};

/** Throws one `configuration` error naming the setting at fault. Tokens never come by a flag: `ps` shows those. */
export function readGatewayConfiguration(sources: SettingSources) {
  const { listen, agentId, ...settings } = readSettings(gatewaySettings, sources);
  const tokens = readTokens(sources.env['LATCHKEY_GATEWAY_TOKENS']);
  const host = listen.slice(0, listen.lastIndexOf(':')).replace(/^\[|\]$/g, '');
  if (tokens === undefined && !/^(localhost|127\.[0-9.]+|::1)$/.test(host)) {
    throw new CodedError(
      'configuration',
      `without LATCHKEY_GATEWAY_TOKENS the gateway listens on this machine only, not on ${host}.`,
      'LATCHKEY_GATEWAY_LISTEN',
    );
  }
  return {
    ...settings,
    host,
    port: portOf(listen),
    tokens,
    agentId: agentId === undefined ? undefined : parseAgentId(agentId),
  };
}

function portOf(listen: string): number {
  return Number(listen.slice(listen.lastIndexOf(':') + 1));
}

/** What the system said when the address was to be listened on, as the setting's failure. */
export function toListenError(error: unknown, { host, port }: { readonly host: string; readonly port: number }): Error {
  const { code = String(error) } = error as NodeJS.ErrnoException;
  const reason = code === 'EADDRINUSE' ? 'something listens there already' : `it can't be listened on (${code})`;
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new CodedError(
    'configuration',
    `LATCHKEY_GATEWAY_LISTEN (or --listen) is "${address}": ${reason}.`,
    'LATCHKEY_GATEWAY_LISTEN',
  );
}
