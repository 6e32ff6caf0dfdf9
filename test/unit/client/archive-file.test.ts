import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readLines, writeLines } from '../../../client/archive-file.ts';

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-archive-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function* stream(lines: readonly string[], end?: Error): AsyncGenerator<string> {
  yield* lines;
  if (end !== undefined) throw end;
}

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const collected: string[] = [];
  for await (const line of lines) collected.push(line);
  return collected;
}

/** Longer than a chunk of a file, so that lines and characters are cut at its borders. */
const LINES = ['a\u2028b\rc', '', '界'.repeat(100_001), 'x'.repeat(70_000), 'end'];

test('lines end at LF only, whatever is in them and wherever the chunks of the file end', async () => {
  const path = join(await makeFolder(), 'file');
  await writeLines(path, stream(LINES));
  expect(await collect(readLines(path))).toEqual(LINES);
  await writeFile(path, 'one\ntwo');
  expect(await collect(readLines(path))).toEqual(['one', 'two']);
});

test('a line that is not UTF-8 is refused by its number', async () => {
  const path = join(await makeFolder(), 'file');
  await writeFile(path, Buffer.from([0x61, 0x0a, 0xff, 0x0a]));
  await expect(collect(readLines(path))).rejects.toMatchObject({ code: 'bad_request', field: 'line 2' });
});

test('a file that can not be read or written is named, with the reason and what to do', async () => {
  const folder = await makeFolder();
  const [absent, inAbsent] = [join(folder, 'absent'), join(folder, 'absent', 'file')];
  const refused = (path: string, words: string) => ({
    code: 'configuration',
    message: expect.stringMatching(new RegExp(`^${path} can't be ${words}\\. Name a file `)) as string,
  });
  await expect(collect(readLines(absent))).rejects.toMatchObject(refused(absent, 'read: .* does not exist'));
  await expect(collect(readLines(folder))).rejects.toMatchObject(refused(folder, 'read: it is a folder'));
  await expect(writeLines(folder, stream(['a']))).rejects.toMatchObject(refused(folder, 'written: it is a folder'));
  await expect(writeLines(inAbsent, stream(['a']))).rejects.toMatchObject(refused(inAbsent, 'written: .* not exist'));
  expect(await readdir(folder)).toEqual([]);
});

test('a file is written whole or not at all, and what was there before stays', async () => {
  const folder = await makeFolder();
  const path = join(folder, 'file');
  await writeFile(path, 'before');
  await expect(writeLines(path, stream(['half'], new Error('the chat changed')))).rejects.toThrow('the chat changed');
  expect(await readFile(path, 'utf8')).toBe('before');
  expect(await readdir(folder)).toEqual(['file']);
});
