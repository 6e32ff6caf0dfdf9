import { CodedError } from '../../contract/failures.ts';
import type { Environment } from './cache-folder.ts';
import { connectClient, loadConnection } from './connection.ts';
import { devServerArguments, type Ports } from './dev-server-arguments.ts';
import { findDevServer } from './find-dev-server.ts';
import { findFreePort, isListening, isPortBusy } from './ports.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { startServerProcess, type ServerProcess } from './server-process.ts';

/** A start takes about a second; a file database on a busy machine takes longer. */
const READY_TIMEOUT_MS = 60_000;
const READY_EVERY_MS = 50;
/** A port that was free may be taken before the server binds it; then another one is tried. */
const PORT_TRIES_MAX = 3;

export interface DevServerRequest {
  /** A file that keeps everything over restarts, a SIGKILL included; else the server lives in memory. */
  readonly dbFile?: string;
  readonly port?: number;
  readonly uiPort?: number;
  /** Default: only when `uiPort` is given. */
  readonly ui?: boolean;
  readonly namespace?: string;
  /** One line for people each time there is something to say: building, downloading, adding search attributes. */
  readonly onProgress?: (line: string) => void;
  /** In place of `process.env`. */
  readonly env?: Environment;
  /** Stays up when we end, and isn't reached by a Ctrl-C in our terminal. */
  readonly outlivesParent?: boolean;
}

export interface DevServer {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl?: string;
  /** Of the server's own process, when it is ours. */
  readonly pid?: number;
  /** Which way led to it, for people. */
  readonly source: string;
  /** False for TEMPORAL_ADDRESS: such a server is used, never started or stopped. */
  readonly ownsServer: boolean;
  readonly stop: () => Promise<void>;
}

/**
 * A Temporal server with our search attributes: the user's (TEMPORAL_ADDRESS), or a dev server of our own. Throws a
 * CodedError: `temporal_unreachable` when there is none, `configuration` when a setting or a port can't be used.
 */
export async function startDevServer(request: DevServerRequest = {}): Promise<DevServer> {
  const env = request.env ?? process.env;
  const onProgress = request.onProgress ?? (() => undefined);
  if (env['TEMPORAL_ADDRESS']) return useServer(request, env, onProgress);
  for (const name of ['port', 'uiPort'] as const) await requireFreePort(name, request[name]);
  const { path: executable, source } = await findDevServer({ env, onProgress });
  for (let tries = 1; ; tries += 1) {
    const ports = await choosePorts(request);
    const args = devServerArguments(request, ports);
    const outlivesParent = request.outlivesParent ?? false;
    const server = await startServerProcess({ executable, args, env, outlivesParent });
    const namespace = request.namespace ?? 'default';
    const address = `127.0.0.1:${ports.port}`;
    const failure = await waitUntilReady(server, { address, namespace, port: ports.port });
    if (failure === undefined) {
      return {
        address,
        namespace,
        ...(ports.uiPort === undefined ? {} : { uiUrl: `http://127.0.0.1:${ports.uiPort}` }),
        pid: server.pid,
        source,
        ownsServer: true,
        stop: server.stop,
      };
    }
    await server.stop();
    const isLostPort = request.port === undefined && /address already in use/.test(failure);
    if (!isLostPort || tries >= PORT_TRIES_MAX) {
      throw new CodedError('temporal_unreachable', `The Temporal dev server (${executable}) ${failure}`);
    }
  }
}

async function useServer(
  request: DevServerRequest,
  env: Environment,
  onProgress: (line: string) => void,
): Promise<DevServer> {
  const wanted = { env, ...(request.namespace === undefined ? {} : { namespace: request.namespace }) };
  const { address, namespace } = loadConnection(wanted);
  const client = await connectClient(wanted);
  try {
    await ensureSearchAttributes(client, onProgress);
  } finally {
    await client.connection.close();
  }
  return { address, namespace, source: 'TEMPORAL_ADDRESS', ownsServer: false, stop: async () => undefined };
}

async function choosePorts(request: DevServerRequest): Promise<Ports> {
  const port = request.port ?? (await findFreePort());
  const hasUi = request.ui ?? request.uiPort !== undefined;
  return { port, uiPort: hasUi ? (request.uiPort ?? (await findFreePort())) : undefined };
}

async function requireFreePort(name: 'port' | 'uiPort', port: number | undefined): Promise<void> {
  if (port === undefined || !(await isPortBusy(port))) return;
  throw new CodedError(
    'configuration',
    `Port ${port} (${name}) for the Temporal dev server is taken by another process. ` +
      'End that process, or choose another port; when it is a Temporal server, set TEMPORAL_ADDRESS to use it.',
    name,
  );
}

/** Undefined when it answers; else why not. */
async function waitUntilReady(
  server: ServerProcess,
  { address, namespace, port }: { address: string; namespace: string; port: number },
): Promise<string | undefined> {
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  let lastFailure = 'nothing listens yet';
  while (performance.now() < deadlineMs) {
    if (server.hasEnded()) return server.describeEnd();
    if (await isListening(port)) {
      try {
        const client = await connectClient({ address, namespace, env: {} });
        await client.connection.close();
        return undefined;
      } catch (error) {
        // It listens before all of its services are up, and before its namespaces are known.
        lastFailure = String(error);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, READY_EVERY_MS));
  }
  return `was not ready within ${READY_TIMEOUT_MS / 1000} s: ${lastFailure}`;
}
