/** The stage of a workspace for whoever needs it: what runs is used, else a supervisor is started in the background. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError, isFailureCode } from '../../contract/failures.ts';
import type { StageFolder } from './stage-folder.ts';
import { findLiveRecord, readRecord } from './stage-record.ts';
import type { StageRecord } from './stage-record.ts';
import { programPath } from './start-program.ts';

const LOOK_MS = 50;
const LOG_BYTES_MAX = 4 * 1024 * 1024;
const READ_BYTES = 64 * 1024;

export interface EnsureStageOptions {
  readonly folder: StageFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly endsWhenUnused: boolean;
  readonly words?: readonly string[];
  /** What the supervisor says while it starts. */
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Call it after `beginUse`, or the stage may end before it is used. Throws what kept the stage from starting. */
export async function ensureStage(options: EnsureStageOptions): Promise<StageRecord> {
  const { folder, signal } = options;
  for (;;) {
    signal.throwIfAborted();
    const live = findLiveRecord(folder);
    if (live?.state === 'ready') return live;
    if (live === undefined) {
      const started = await startSupervisor(options);
      if (started !== undefined) return started;
    }
    await delay(LOOK_MS);
  }
}

/** Undefined when another one had the lock: then that one is waited for. */
async function startSupervisor(options: EnsureStageOptions): Promise<StageRecord | undefined> {
  const { folder, env, signal, endsWhenUnused, onProgress } = options;
  const log = openLog(folder);
  const words = ['dev', '--workspace', folder.workspace, ...(endsWhenUnused ? ['--while-used'] : [])];
  const child = spawn(process.execPath, [programPath('client/latchkey'), ...words, ...(options.words ?? [])], {
    env,
    cwd: folder.root,
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
  });
  closeSync(log.fd);
  child.unref();
  let hasEnded = false;
  child.once('exit', () => (hasEnded = true));
  child.once('error', () => (hasEnded = true));
  const readLines = followLog(folder.log, log.size);
  let last = '';
  for (;;) {
    signal.throwIfAborted();
    for (const line of readLines()) {
      last = line;
      // Lines with a time are about pieces; its own failure comes as the error that is thrown.
      if (/^\d\d:\d\d:\d\d /.test(line)) onProgress(line);
    }
    const record = readRecord(folder);
    const isItsWord = record !== undefined && record.supervisor.pid === child.pid;
    if (isItsWord && record.state === 'ready') return record;
    if (hasEnded) {
      if (isItsWord && record.failure !== undefined) {
        const { code, message } = record.failure;
        throw new CodedError(isFailureCode(code) ? code : 'configuration', message);
      }
      if (findLiveRecord(folder) !== undefined || last.includes('another supervisor')) return undefined;
      throw new CodedError(
        'configuration',
        `the pieces could not be started: ${last}. All that was said: ${folder.log}`,
      );
    }
    await delay(LOOK_MS);
  }
}

function openLog(folder: StageFolder): { fd: number; size: number } {
  const size = statSync(folder.log, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_BYTES_MAX) renameSync(folder.log, `${folder.log}.1`);
  return { fd: openSync(folder.log, 'a', 0o600), size: size > LOG_BYTES_MAX ? 0 : size };
}

/** Gives the whole lines that were written since the last look. */
function followLog(file: string, from: number): () => string[] {
  let position = from;
  let rest = '';
  return () => {
    const fd = openSync(file, 'r');
    const bytes = Buffer.alloc(READ_BYTES);
    const count = readSync(fd, bytes, 0, READ_BYTES, position);
    closeSync(fd);
    position += count;
    const lines = (rest + bytes.toString('utf8', 0, count)).split('\n');
    rest = lines.pop() ?? '';
    return lines;
  };
}
