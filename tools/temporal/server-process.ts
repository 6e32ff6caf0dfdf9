import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { open, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Environment } from './cache-folder.ts';

const STOP_GRACE_MS = 10_000;
const LOG_LINES_SHOWN_MAX = 15;

export interface ServerProcess {
  readonly pid: number;
  readonly hasEnded: () => boolean;
  /** How it ended, with the last lines of its log. */
  readonly describeEnd: () => Promise<string>;
  /** TERM, grace, KILL by pid; idempotent; resolves when the process is gone and its log removed. */
  readonly stop: () => Promise<void>;
}

interface ServerProcessRequest {
  readonly executable: string;
  readonly args: readonly string[];
  readonly env: Environment;
  /** In a session of its own, so that neither our end nor a Ctrl-C in our terminal ends it. */
  readonly outlivesParent: boolean;
}

/** Starts a server whose log goes to a file: a pipe would fill up or break as soon as nobody reads it. */
export async function startServerProcess(request: ServerProcessRequest): Promise<ServerProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), 'latchkey-server-'));
  const logFile = path.join(folder, 'server.log');
  const log = await open(logFile, 'a');
  let child: ChildProcess;
  try {
    child = spawn(request.executable, request.args, {
      env: withoutTemporalSettings(request.env),
      stdio: ['ignore', log.fd, log.fd],
      detached: request.outlivesParent,
    });
  } finally {
    await log.close();
  }
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(`ended with ${signal ?? `exit code ${code}`}`));
  });
  let hasEnded = false;
  void ended.then(() => (hasEnded = true));
  const { pid } = child;
  if (pid === undefined) {
    const end = await ended;
    await rm(folder, { recursive: true, force: true });
    throw new Error(`${request.executable} ${end}`);
  }
  if (request.outlivesParent) child.unref();
  const releaseExitHook = request.outlivesParent ? () => undefined : endAtOurExit(child, folder);
  return {
    pid,
    hasEnded: () => hasEnded,
    async describeEnd() {
      const end = await ended;
      const lines = (await readFile(logFile, 'utf8').catch(() => '')).trimEnd().split('\n');
      return `${end}; its last lines:\n${lines.slice(-LOG_LINES_SHOWN_MAX).join('\n')}`;
    },
    async stop() {
      child.ref();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
      child.kill('SIGTERM');
      await ended;
      clearTimeout(timer);
      releaseExitHook();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The last net, for a caller that ends without `stop`: nothing of ours stays behind. */
function endAtOurExit(child: ChildProcess, folder: string): () => void {
  const end = (): void => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', end);
  return () => void process.removeListener('exit', end);
}

/** The command line takes its flags from TEMPORAL_* too; a server that we start is set up by our flags alone. */
function withoutTemporalSettings(env: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}
