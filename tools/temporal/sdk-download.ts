import { mkdir, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cacheFolder, type Environment } from './cache-folder.ts';
import { isExecutableFile } from './find-on-path.ts';
import { runCommand } from './run-command.ts';
import type { ServerSource, SourceAnswer, SourceContext } from './server-source.ts';

export type SdkServerKind = 'dev-server' | 'time-skipping';

/** How the SDK names what it downloads, before its own version. */
const FILE_PREFIX: Record<SdkServerKind, string> = {
  'dev-server': 'temporal-sdk-typescript-',
  'time-skipping': 'temporal-test-server-sdk-typescript-',
};
const DOWNLOAD_TIMEOUT_MS = 10 * 60 * 1000;
/** Where packets vanish the SDK waits for minutes; when nothing has come for so long, nothing will. */
const NO_BYTES_TIMEOUT_MS = 20_000;
const LOOK_EVERY_MS = 1000;

/** The server that the SDK downloads by itself for its test environments. */
export function sdkDownload(kind: SdkServerKind): ServerSource {
  return {
    name: "the SDK's download",
    async look({ env }) {
      const executable = (await findNewest(downloadFolder(env), kind)) ?? (await findNewest(tmpdir(), kind));
      return executable === undefined ? { reason: 'not downloaded yet' } : { path: executable };
    },
    make: (context) => download(kind, context),
  };
}

/** Not the SDK's default, the shared temp folder: there anybody could leave an executable under the expected name. */
function downloadFolder(env: Environment): string {
  return path.join(cacheFolder(env, 'temporal'), 'sdk');
}

async function findNewest(folder: string, kind: SdkServerKind): Promise<string | undefined> {
  let newest: { file: string; modifiedMs: number } | undefined;
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(FILE_PREFIX[kind]) || name.endsWith('.downloading')) continue;
    const file = path.join(folder, name);
    const status = await stat(file).catch(() => undefined);
    if (status === undefined || status.uid !== process.getuid?.() || !(await isExecutableFile(file))) continue;
    if (newest === undefined || status.mtimeMs > newest.modifiedMs) newest = { file, modifiedMs: status.mtimeMs };
  }
  return newest?.file;
}

async function download(kind: SdkServerKind, { env, onProgress }: SourceContext): Promise<SourceAnswer> {
  const folder = downloadFolder(env);
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    return { reason: `can't write to the cache folder: ${String(error)}` };
  }
  const stalled = new AbortController();
  const watch = watchForBytes(folder, onProgress, stalled);
  // A process of its own: in ours the SDK's runtime would take over the handling of signals.
  const program = path.join(import.meta.dirname, `fetch-sdk-server${path.extname(import.meta.filename)}`);
  const run = await runCommand({
    file: process.execPath,
    args: [program, kind, folder],
    env,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    signal: stalled.signal,
  }).finally(() => clearInterval(watch));
  if (stalled.signal.aborted) return { reason: `nothing came within ${NO_BYTES_TIMEOUT_MS / 1000} s` };
  const executable = await findNewest(folder, kind);
  if (run.hasSucceeded && executable !== undefined) return { path: executable };
  return { reason: `the download ${run.end}: ${run.lines.at(-1) ?? 'no message'}` };
}

function watchForBytes(folder: string, onProgress: (line: string) => void, stalled: AbortController): NodeJS.Timeout {
  let bytesBefore = 0;
  let quietMs = 0;
  const look = async (): Promise<void> => {
    const bytes = await folderBytes(folder);
    quietMs = bytes > bytesBefore ? 0 : quietMs + LOOK_EVERY_MS;
    bytesBefore = bytes;
    if (quietMs === 0) onProgress(`downloading the Temporal server: ${Math.round(bytes / 1024 / 1024)} MiB`);
    if (quietMs >= NO_BYTES_TIMEOUT_MS) stalled.abort();
  };
  return setInterval(() => void look(), LOOK_EVERY_MS);
}

async function folderBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder).catch(() => [])) {
    bytes += (await stat(path.join(folder, name)).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}
