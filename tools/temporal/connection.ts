import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnection } from '@temporalio/worker';
import { CodedError } from '../../contract/failures.ts';
import type { Environment } from './cache-folder.ts';
import { connectionError, namespaceError } from './connection-errors.ts';
import { findObstacle } from './find-obstacle.ts';

const ADDRESS_DEFAULT = 'localhost:7233';
const NAMESPACE_DEFAULT = 'default';
/** A server that is there answers in milliseconds; people wait for an error no longer than this. */
const CONNECT_TIMEOUT_MS = 5000;

type ConnectionOptions = ReturnType<typeof loadClientConnectConfig>['connectionOptions'];

export interface ConnectionRequest {
  /** Beats what the environment says. */
  readonly address?: string;
  readonly namespace?: string;
  /** In place of `process.env`. */
  readonly env?: Environment;
}

export interface ConnectionSettings {
  readonly address: string;
  readonly namespace: string;
  readonly connectionOptions: ConnectionOptions;
}

/**
 * Where Temporal is and how to get in, by the SDK's standard configuration: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
 * TEMPORAL_API_KEY, TEMPORAL_TLS_*, and the profile of TEMPORAL_CONFIG_FILE. Throws `configuration` when it can't be read.
 */
export function loadConnection(request: ConnectionRequest = {}): ConnectionSettings {
  let loaded: ReturnType<typeof loadClientConnectConfig>;
  try {
    loaded = loadClientConnectConfig(request.env === undefined ? {} : { overrideEnvVars: definedOnly(request.env) });
  } catch (error) {
    throw new CodedError('configuration', `Temporal's configuration can't be read: ${textOf(error)}.`, 'TEMPORAL_*');
  }
  const configured = loaded.connectionOptions.address;
  const address = request.address || configured || ADDRESS_DEFAULT;
  // TLS settings and API key belong to the address they were configured with: another server never sees them, and
  // a dev server of ours would not understand them.
  const isConfigured = configured === undefined ? !isLoopback(address) : address === configured;
  return {
    address,
    namespace: request.namespace ?? loaded.namespace ?? NAMESPACE_DEFAULT,
    connectionOptions: isConfigured ? { ...loaded.connectionOptions, address } : { address },
  };
}

/** A client that has reached its server and namespace. The caller closes `client.connection`. */
export async function connectClient(request: ConnectionRequest = {}): Promise<Client> {
  const { address, namespace, connectionOptions } = loadConnection(request);
  const [connection, obstacle] = await Promise.all([
    Connection.connect({ ...connectionOptions, connectTimeout: CONNECT_TIMEOUT_MS }).catch((error: unknown) => ({
      error,
    })),
    findObstacle(address, CONNECT_TIMEOUT_MS),
  ]);
  if ('error' in connection) throw connectionError(address, connection.error, obstacle);
  try {
    await connection.withDeadline(Date.now() + CONNECT_TIMEOUT_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } catch (error) {
    const failure = namespaceError({ address, namespace, error });
    if (failure !== undefined) {
      await connection.close();
      throw failure;
    }
  }
  return new Client({ connection, namespace });
}

/** The native connection that Workers need; the caller closes it after its Workers have ended. */
export async function connectWorker(request: ConnectionRequest = {}): Promise<NativeConnection> {
  // The client first: the native connection retries for longer than people wait and tells less about why.
  const client = await connectClient(request);
  await client.connection.close();
  const { address, connectionOptions } = loadConnection(request);
  // Loaded late: it brings the native runtime, which a mere client does without.
  const worker = await import('@temporalio/worker');
  return worker.NativeConnection.connect(connectionOptions).catch((error: unknown) => {
    throw connectionError(address, error);
  });
}

function definedOnly(env: Environment): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function isLoopback(address: string): boolean {
  return /^(localhost|127\.[0-9.]+|\[::1\])(:\d+)?$/.test(address);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
