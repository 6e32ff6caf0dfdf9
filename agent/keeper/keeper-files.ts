/**
 * The files of one attempt's folder, as the daemon reads them (the protocol: keeper.sh). A line counts only when it is
 * complete, that is, when it ends with " .": a torn write is the same as none.
 */
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  openSync,
  readFileSync,
  readSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

export interface StartedRecord {
  readonly pid: number;
  readonly startTimeTicks: number;
}

export interface ExitRecord {
  /** From the keeper's shell: 128 + n also stands for "ended by signal n". */
  readonly code: number;
  /** Boot clock at the end, in milliseconds, where the system tells. */
  readonly endedBootMs: number | undefined;
}

export type ClaimRecord =
  | { readonly by: 'nobody' }
  /** Made, but its line is incomplete: somebody has decided, we can't tell who. */
  | { readonly by: 'unknown' }
  | { readonly by: 'keeper'; readonly pid: number; readonly startTimeTicks: number }
  | { readonly by: 'daemon' };

const VOID_CLAIM = 'daemon .\n';

function readCompleteLine(folder: string, name: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(join(folder, name), 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return text.endsWith(' .\n') ? text.slice(0, -3) : '';
}

/** Undefined where there is no file or no complete line. */
function readRecord(folder: string, name: string, pattern: RegExp): RegExpMatchArray | undefined {
  return readCompleteLine(folder, name)?.match(pattern) ?? undefined;
}

export function readStarted(folder: string): StartedRecord | undefined {
  const match = readRecord(folder, 'started', /^(\d+) (\d+)$/);
  return match && { pid: Number(match[1]), startTimeTicks: Number(match[2]) };
}

export function readExit(folder: string): ExitRecord | undefined {
  const match = readRecord(folder, 'exit', /^(\d+) (\d+(?:\.\d+)?|-)$/);
  if (match === undefined) return undefined;
  return { code: Number(match[1]), endedBootMs: match[2] === '-' ? undefined : Math.round(Number(match[2]) * 1000) };
}

/** Whether the command entered the cgroup that was made for it. */
export function hasEnteredCgroup(folder: string): boolean {
  return readStarted(folder) !== undefined && !existsSync(join(folder, 'no-cgroup'));
}

/** What failed before the exec: `workdir`, `started` or `exec`. */
export function readFailed(folder: string): string | undefined {
  return readRecord(folder, 'failed', /^(\w+)$/)?.[1];
}

export function readClaim(folder: string): ClaimRecord {
  const line = readCompleteLine(folder, 'claim');
  if (line === undefined) return { by: 'nobody' };
  if (line === 'daemon') return { by: 'daemon' };
  const match = line.match(/^keeper (\d+) (\d+)$/);
  return match ? { by: 'keeper', pid: Number(match[1]), startTimeTicks: Number(match[2]) } : { by: 'unknown' };
}

/**
 * Tries to decide for ever that the attempt runs nothing. `won`: no keeper can claim any more. By link, so that the
 * claim appears with its content or not at all.
 */
export function claimForDaemon(folder: string): 'won' | 'lost' {
  const temporary = join(folder, 'claim.daemon');
  writeFileSync(temporary, VOID_CLAIM, { mode: 0o600 });
  try {
    linkSync(temporary, join(folder, 'claim'));
    return 'won';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readClaim(folder).by === 'daemon' ? 'won' : 'lost';
  } finally {
    unlinkSync(temporary);
  }
}

/**
 * Whether a keeper (or a child that has not exec'd yet) holds the FIFO. Asked by a non-blocking read: a writer makes
 * it EAGAIN, none gives 0 bytes. Readers such as `cat` or a backup don't count, and aren't disturbed (L07).
 */
export function isAliveHeld(folder: string): boolean {
  let fd: number;
  try {
    fd = openSync(join(folder, 'alive'), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  try {
    readSync(fd, Buffer.alloc(1));
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return true;
    throw error;
  } finally {
    closeSync(fd);
  }
}
