/** The gateway program: `node gateway/main.ts --store sqlite:/path`, or `latchkey gateway`. */
import { ChatClient } from '../client/chat-client.ts';
import { connectClient } from '../tools/temporal/connection.ts';
import { StreamPlaces } from './access/stream-places.ts';
import { withDeadline } from './chat-actions.ts';
import { readGatewayConfiguration, toListenError } from './configuration.ts';
import { openStore } from './open-store.ts';
import { createServer } from './server.ts';
import { LiveTails, readTails } from './stream/live-tails.ts';

export interface GatewaySources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly args: readonly string[];
  /** A line for people: where it listens, what went wrong. */
  readonly say: (line: string) => void;
}

/** Serves until `stopping` aborts; then streams end, requests that are under way are answered, and it resolves. */
export async function runGateway({ env, args, say }: GatewaySources, stopping: AbortSignal): Promise<void> {
  const configuration = readGatewayConfiguration({ env, args });
  const { storeUrl, turnQueue, temporalAddress, temporalNamespace, host, port, tokens, agentId, model } = configuration;
  const store = await openStore(storeUrl);
  try {
    const client = await connectClient({
      ...(temporalAddress !== undefined && { address: temporalAddress }),
      ...(temporalNamespace !== undefined && { namespace: temporalNamespace }),
    });
    const workflowsUrl = workflowsUrlOf(configuration.temporalUiUrl, client.options.namespace);
    const services = {
      store,
      chats: withDeadline(client, new ChatClient({ client, taskQueue: turnQueue, store })),
      tails: new LiveTails(readTails(client)),
      places: new StreamPlaces(),
      defaults: { ...(agentId !== undefined && { agentId }), ...(model !== undefined && { model }) },
      ...(workflowsUrl !== undefined && { temporalWorkflowsUrl: workflowsUrl }),
      stopping,
    };
    const server = createServer({ services, tokens, report: (line) => say(`gateway: ${line}`) });
    try {
      const address = await server.listen({ host, port }).catch((error: unknown) => {
        throw toListenError(error, { host, port });
      });
      say(`ready: ${address}`);
      if (!stopping.aborted) {
        await new Promise<void>((resolve) => stopping.addEventListener('abort', () => resolve(), { once: true }));
      }
    } finally {
      await server.close();
      await client.connection.close();
    }
  } finally {
    await store.close();
  }
}

function workflowsUrlOf(temporalUiUrl: string | undefined, namespace: string): string | undefined {
  if (temporalUiUrl === undefined) return undefined;
  return `${temporalUiUrl.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
}

if (import.meta.main) {
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  try {
    await runGateway({ env: process.env, args: process.argv.slice(2), say }, stopping.signal);
  } catch (error) {
    process.stderr.write(
      `gateway: ${(error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ')}\n`,
    );
    process.exitCode = 1;
  }
}
