/** Exported chats in files and pipes, one line in memory at a time. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CodedError } from '../contract/failures.ts';

/** Far above any message or result; a file without line ends is no export. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Split at LF only: `readline` also splits at U+2028, which JSON leaves as it is. */
export async function* readLines(path: string): AsyncGenerator<string, void, void> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let number = 1;
  for await (const chunk of readChunks(path)) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      yield decode([...pieces, chunk.subarray(from, end)], number);
      [pieces, bytes, from] = [[], 0, end + 1];
      number += 1;
    }
    pieces.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > LINE_BYTES_MAX) throw unusable(number, `it has more than ${LINE_BYTES_MAX} bytes`);
  }
  if (bytes > 0) yield decode(pieces, number);
}

async function* readChunks(path: string): AsyncGenerator<Buffer, void, void> {
  try {
    yield* createReadStream(path) as AsyncIterable<Buffer>;
  } catch (error) {
    throw fileError(
      error,
      `${path} can't be read`,
      'Name a file that "latchkey export" wrote, or - for standard input.',
    );
  }
}

const FILE_CALLS = ['open', 'read', 'write', 'rename'];
const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it, or its folder, does not exist',
  EISDIR: 'it is a folder',
  ENOTDIR: 'what should be its folder is a file',
  EACCES: 'you may not',
  EPERM: 'you may not',
  EROFS: 'its disk takes no changes',
  ENOSPC: 'its disk is full',
};

/** What the system says of a file, for people. All else goes on as it is: the lines come from a store, which may fail too. */
function fileError(error: unknown, what: string, nextStep: string): unknown {
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException;
  const reason = FILE_REASONS[code];
  if (reason === undefined || !FILE_CALLS.includes(syscall)) return error;
  return new CodedError('configuration', `${what}: ${reason}. ${nextStep}`, 'file');
}

function decode(pieces: readonly Buffer[], number: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    throw unusable(number, 'it is not UTF-8');
  }
}

function unusable(number: number, reason: string): CodedError {
  return new CodedError('bad_request', `line ${number}: the line: ${reason}`, `line ${number}`);
}

/** Whole or not at all: a file of that name that was there stays until all lines are written. */
export async function writeLines(path: string, lines: AsyncIterable<string>): Promise<void> {
  const half = `${path}.${process.pid}.part`;
  try {
    await pipeline(Readable.from(withNewlines(lines)), createWriteStream(half, { flags: 'wx' }));
    await rename(half, path);
  } catch (error) {
    await rm(half, { force: true });
    throw fileError(error, `${path} can't be written`, 'Name a file in a folder that is there and yours: --out FILE.');
  }
}

/** To a pipe or terminal, as fast as its reader. */
export async function printLines(lines: AsyncIterable<string>): Promise<void> {
  await pipeline(Readable.from(withNewlines(lines)), process.stdout, { end: false });
}

async function* withNewlines(lines: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  for await (const line of lines) yield `${line}\n`;
}

/** What is on standard input as a file, since it is read twice; gone when `use` has ended. */
export async function withStandardInput<Result>(use: (path: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-import-'));
  try {
    const path = join(folder, 'chat.jsonl');
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }));
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
