import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Environment } from './cache-folder.ts';

const LINES_KEPT_MAX = 20;

interface CommandRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Environment;
  readonly timeoutMs: number;
  /** Every line of both streams as it comes. */
  readonly onLine?: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface CommandEnd {
  readonly hasSucceeded: boolean;
  /** Why it did not succeed: exit code, signal or the error of the start. */
  readonly end: string;
  /** The last lines of both streams. */
  readonly lines: readonly string[];
}

/** Runs a command to its end. Its failure is a value: a resolver goes on to the next way and tells the reason later. */
export async function runCommand(request: CommandRequest): Promise<CommandEnd> {
  const lines: string[] = [];
  const child = spawn(request.file, request.args, {
    ...(request.cwd === undefined ? {} : { cwd: request.cwd }),
    env: { ...request.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const onLine = (line: string): void => {
    lines.push(line);
    if (lines.length > LINES_KEPT_MAX) lines.shift();
    request.onLine?.(line);
  };
  createInterface({ input: child.stdout }).on('line', onLine);
  createInterface({ input: child.stderr }).on('line', onLine);
  const kill = (): void => void child.kill('SIGKILL');
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    kill();
  }, request.timeoutMs);
  request.signal?.addEventListener('abort', kill, { once: true });
  try {
    return await new Promise<CommandEnd>((resolve) => {
      child.once('error', (error) => resolve({ hasSucceeded: false, end: error.message, lines }));
      child.once('close', (code, signal) => {
        const end = isTimedOut
          ? `no end within ${request.timeoutMs / 1000} s`
          : `ended with ${signal ?? `exit code ${code}`}`;
        resolve({ hasSucceeded: code === 0, end, lines });
      });
    });
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', kill);
  }
}
