/** Starts one of our programs as a process of its own and waits until it says that it is ready. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CodedError } from '../../contract/failures.ts';
import { plainLine } from '../watch/plain-text.ts';
import { limitLines } from './limit-lines.ts';
import { findProcess } from './process-identity.ts';
import type { RunningPiece, Say } from './running-piece.ts';

const READY_MS_MAX = 120_000;
/** Between the polite signal and the other one; a Worker's own forced shutdown takes 5 s. */
const STOP_MS_MAX = 8000;

export interface ProgramRequest {
  readonly name: string;
  /** From the package's root, without its ending. */
  readonly program: string;
  readonly words?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly say: Say;
  readonly stopping: AbortSignal;
}

/** A program of ours: `.ts` in a checkout, `.js` in what is shipped. */
export function programPath(program: string): string {
  return fileURLToPath(new URL(`../../${program}${extname(import.meta.filename)}`, import.meta.url));
}

export async function startProgram(request: ProgramRequest): Promise<RunningPiece> {
  const { name, program, words = [], env, stopping } = request;
  stopping.throwIfAborted();
  const child = spawn(process.execPath, [programPath(program), ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A session of its own: a Ctrl-C in the terminal reaches the supervisor alone, which ends the pieces in order.
    detached: true,
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(`ended (${signal ?? `exit ${code}`})`));
  });
  const stop = () => stopChild(child, ended);
  try {
    const detail = await awaitReady(request, child, ended);
    const identity = child.pid === undefined ? undefined : findProcess(child.pid);
    if (identity === undefined) throw new CodedError('configuration', `the ${name} ended at its start`);
    return { process: identity, isOurs: true, detail, ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function awaitReady({ name, say, stopping }: ProgramRequest, child: ChildProcess, ended: Promise<string>) {
  const lines: string[] = [];
  const write = limitLines((line) => say(name, line));
  return new Promise<string>((resolve, reject) => {
    let isReady = false;
    const hear = (heard: string): void => {
      const line = plainLine(heard);
      if (!isReady && /\bready\b/.test(line)) {
        isReady = true;
        clearTimeout(timer);
        resolve(line);
        return;
      }
      // Our programs say their own name, which is known here.
      const word = line.startsWith(`${name}: `) ? line.slice(name.length + 2) : line;
      if (!isReady) lines.push(word);
      write(word);
    };
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', hear);
    }
    const timer = setTimeout(() => {
      reject(new CodedError('configuration', `the ${name} was not ready within ${READY_MS_MAX / 1000} s`));
    }, READY_MS_MAX);
    const leave = (): void => reject(stopping.reason as Error);
    stopping.addEventListener('abort', leave, { once: true });
    void ended.then((how) => {
      clearTimeout(timer);
      stopping.removeEventListener('abort', leave);
      reject(new CodedError('configuration', `the ${name} ${how} before it was ready: ${lastWord(lines)}`));
    });
  });
}

/** Our programs end with one clear line; of a stack trace the line with the error is it. */
function lastWord(lines: readonly string[]): string {
  return lines.findLast((line) => /^\S/.test(line) && !line.startsWith('Node.js v')) ?? 'it said nothing';
}

async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
}
