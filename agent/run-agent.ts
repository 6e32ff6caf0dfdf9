/** Composes an agent: state, supervisor, server; recovers before it listens; lets go on close. */
import { accessSync, chmodSync, constants, existsSync, realpathSync, rmSync, statSync } from 'node:fs';
import { createConnection } from 'node:net';
import type { Server } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { CodedError } from '../contract/failures.ts';
import { FREE_DISK_BYTES_MIN } from '../contract/limits.ts';
import type { Target } from '../contract/target.ts';
import { Supervisor } from './commands/supervisor.ts';
import { installKeeperScript } from './keeper/keeper-script.ts';
import { SEGMENT_BYTES } from './output/segments.ts';
import { OUTPUT_RETENTION_MS_DEFAULT, RECEIPT_RETENTION_MS_DEFAULT, Retention } from './retention.ts';
import { createAgentServer } from './server.ts';
import { Startup } from './startup.ts';
import { runStartup } from './run-startup.ts';
import { makeFolder } from './state/make-folder.ts';
import { AgentState } from './state/open-state.ts';

export interface AgentOptions {
  readonly workspace: string;
  readonly state: string;
  /** Default: `agent.sock` in the state folder. */
  readonly socket?: string;
  /** TCP instead of the socket; needs a token. */
  readonly listen?: { readonly host: string; readonly port: number };
  readonly token?: string;
  readonly envFile?: string;
  readonly killGraceMs?: number;
  /** False: no cgroups, also where they would work. Default: unless LATCHKEY_CGROUP is "off". */
  readonly isCgroupWanted?: boolean;
  /** A program to run once per incarnation; commands wait for its end. */
  readonly startup?: string;
  readonly outputRetentionMs?: number;
  readonly receiptRetentionMs?: number;
  readonly environment: NodeJS.ProcessEnv;
  readonly version: string;
  readonly onDefect: (error: unknown, context: Record<string, unknown>) => void;
}

export interface RunningAgent {
  /** `unix:/path` or `http://host:port`. */
  readonly address: string;
  readonly target: Target;
  readonly recovered: { readonly adopted: number; readonly settled: number };
  /** Commands run on; waiters are told to ask again. */
  close(): Promise<void>;
}

/** Linux: sun_path has 108 bytes with the closing NUL. */
const SOCKET_PATH_BYTES_MAX = 107;
const KILL_GRACE_MS_DEFAULT = 2000;

export async function runAgent(options: AgentOptions): Promise<RunningAgent> {
  const workspace = requireFolder(options.workspace);
  requireTools();
  makeFolder(resolve(options.state));
  const stateFolder = realpathSync(options.state);
  const state = AgentState.open(stateFolder, options.environment);
  state.onWitnessFailure((error) => options.onDefect(error, { doing: 'writing the sequence witness' }));
  try {
    const killGraceMs = options.killGraceMs ?? KILL_GRACE_MS_DEFAULT;
    const segmentBytes = Number(options.environment['LATCHKEY_SEGMENT_BYTES'] ?? SEGMENT_BYTES);
    const supervisor = new Supervisor({
      state,
      keeperScript: options.environment['LATCHKEY_KEEPER_SCRIPT'] ?? installKeeperScript(stateFolder),
      segmentBytes,
      killGraceMs,
      isCgroupWanted: options.isCgroupWanted ?? options.environment['LATCHKEY_CGROUP'] !== 'off',
      onDefect: options.onDefect,
    });
    const recovered = await supervisor.recover();
    const settings = {
      workspace,
      envFile: options.envFile === undefined ? undefined : resolve(options.envFile),
      shell: existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh',
      killGraceMs,
      freeDiskBytesMin: Number(options.environment['LATCHKEY_FREE_DISK_BYTES_MIN'] ?? FREE_DISK_BYTES_MIN),
      segmentBytes,
      version: options.version,
    };
    const startup = new Startup(options.startup);
    const context = { state, supervisor, settings, startup, environment: options.environment };
    const retention = new Retention({
      state,
      supervisor,
      segmentBytes,
      outputRetentionMs: options.outputRetentionMs ?? OUTPUT_RETENTION_MS_DEFAULT,
      receiptRetentionMs: options.receiptRetentionMs ?? RECEIPT_RETENTION_MS_DEFAULT,
      onDefect: options.onDefect,
    });
    const server = createAgentServer({
      context,
      token: options.token,
      closing: supervisor.closing,
      onDefect: options.onDefect,
    });
    const address = await listen(server, options, join(stateFolder, 'agent.sock'));
    retention.start();
    void runStartup({ ...context, signal: supervisor.closing });
    return {
      address,
      target: state.target,
      recovered,
      close: () => close({ server, supervisor, state, retention }),
    };
  } catch (error) {
    state.close();
    throw error;
  }
}

async function close(parts: {
  readonly server: Server;
  readonly supervisor: Supervisor;
  readonly state: AgentState;
  readonly retention: Retention;
}): Promise<void> {
  const { server, supervisor, state, retention } = parts;
  // First the waiters, who are told `start_pending` or what is true so far; then the journal under their last words.
  supervisor.close();
  const closed = new Promise<void>((done) => server.close(() => done()));
  server.closeIdleConnections();
  const lingering = setTimeout(() => server.closeAllConnections(), 1000);
  await closed;
  clearTimeout(lingering);
  await retention.close();
  state.close();
}

async function listen(server: Server, options: AgentOptions, socketDefault: string): Promise<string> {
  if (options.listen !== undefined) {
    if (options.token === undefined) {
      throw new CodedError('configuration', 'an agent on TCP needs a bearer token: set LATCHKEY_AGENT_TOKEN');
    }
    const { host, port } = options.listen;
    await listenOn(server, { host, port }, `${host}:${port}`);
    const bound = server.address();
    return `http://${host}:${typeof bound === 'object' && bound !== null ? bound.port : port}`;
  }
  const path = resolve(options.socket ?? socketDefault);
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) {
    throw new CodedError(
      'configuration',
      `the socket path ${path} has more than ${SOCKET_PATH_BYTES_MAX} bytes: choose a shorter one with --socket`,
    );
  }
  if (!existsSync(dirname(path))) {
    throw new CodedError('configuration', `the folder of the socket, ${dirname(path)}, does not exist (--socket)`);
  }
  await removeStaleSocket(path);
  const before = process.umask(0o177);
  try {
    await listenOn(server, { path }, path);
  } finally {
    process.umask(before);
  }
  chmodSync(path, 0o600);
  return `unix:${path}`;
}

function listenOn(server: Server, where: { path: string } | { host: string; port: number }, name: string) {
  return new Promise<void>((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'something else listens there already' : error.message;
      fail(new CodedError('configuration', `the agent can't listen on ${name}: ${why}; choose another address`));
    });
    server.listen(where, done);
  });
}

/** A socket file that nobody answers on is left from a daemon that was killed; one that answers is somebody's. */
async function removeStaleSocket(path: string): Promise<void> {
  if (!existsSync(path)) return;
  if (!statSync(path).isSocket()) {
    throw new CodedError('configuration', `${path} exists and is not a socket: choose another with --socket`);
  }
  const isAnswered = await new Promise<boolean>((done) => {
    const probe = createConnection(path);
    probe.once('connect', () => {
      probe.destroy();
      done(true);
    });
    // Only a refusal proves that nobody listens: a socket that may not be asked is somebody's.
    probe.once('error', (error: NodeJS.ErrnoException) => done(error.code !== 'ECONNREFUSED'));
  });
  if (isAnswered) {
    throw new CodedError('configuration', `another process listens on ${path}: stop it, or choose another --socket`);
  }
  rmSync(path, { force: true });
}

function requireFolder(path: string): string {
  if (!existsSync(path) || !statSync(path).isDirectory()) {
    throw new CodedError('configuration', `the workspace ${path} is not a folder: name one with --workspace`);
  }
  return realpathSync(path);
}

/** The keeper's tools: without them no command could run, so the agent says so before it takes any. */
function requireTools(): void {
  const missing = ['setsid', 'env', 'mkfifo', 'stdbuf', 'head', 'wc', 'rm', 'cat'].filter((tool) =>
    ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'].every((folder) => {
      try {
        accessSync(join(folder, tool), constants.X_OK);
        return false;
      } catch {
        return true;
      }
    }),
  );
  if (missing.length === 0) return;
  throw new CodedError(
    'configuration',
    `the keeper needs ${missing.join(', ')}: install util-linux and GNU coreutils on this machine`,
  );
}
