/** One program as a process of its own: started, heard, ended by pid. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';

const READY_MS_MAX = 60_000;
/** Between the polite signal and the other one. */
const STOP_MS_MAX = 8000;

export interface Piece {
  readonly name: string;
  readonly pid: number;
  readonly stdin: Writable;
  /** Once, with the next line that it prints on standard output. */
  onNextLine(listener: (line: string) => void): void;
  end(signal: NodeJS.Signals): Promise<void>;
}

export interface PieceRequest {
  readonly name: string;
  readonly program: string;
  readonly words?: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  /** What it says on standard error is kept here. */
  readonly log: string;
}

/** Resolves with the program's first line: ours print one when they are ready. */
export async function startPiece(request: PieceRequest): Promise<Piece> {
  const { name, log } = request;
  const child = spawn(process.execPath, [request.program, ...(request.words ?? [])], {
    env: { ...process.env, ...request.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own: a Ctrl-C in the terminal reaches only the bench, which then ends the pieces in order.
    detached: true,
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    appendFileSync(log, chunk);
    said = `${said}${chunk.toString()}`.slice(-2000);
  });
  const lines = createInterface({ input: child.stdout });
  const piece: Piece = {
    name,
    pid: child.pid ?? 0,
    stdin: child.stdin,
    onNextLine: (listener) => void lines.once('line', listener),
    end: (signal) => endChild(child, signal),
  };
  await new Promise<void>((resolve, reject) => {
    const fail = (how: string) => reject(new Error(`the ${name} ${how}; it said:\n${said}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(`was not ready within ${READY_MS_MAX / 1000} s`);
    }, READY_MS_MAX);
    // The first line of each of our programs says that it is ready.
    piece.onNextLine(() => {
      clearTimeout(timer);
      resolve();
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      fail(`ended at start (${signal ?? code})`);
    });
  });
  return piece;
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
}
