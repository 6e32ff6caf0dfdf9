/**
 * The workflows as the one script that a Worker runs. Making it costs two seconds of CPU, more than all the rest of a
 * worker's start, so it is kept under a name made of all that goes into it; who starts again makes none.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { cacheFolder } from '../tools/temporal/cache-folder.ts';
import type { Environment } from '../tools/temporal/cache-folder.ts';

/** Workflows see nothing else of ours. */
const SOURCES = ['workflows', 'contract'];
const SDK = ['@temporalio/worker', '@temporalio/workflow'];

export interface WorkflowBundleRequest {
  /** Where the folders of the sources are: a checkout, or what is shipped. */
  readonly root?: string;
  readonly env?: Environment;
  readonly make?: (workflowsPath: string) => Promise<string>;
}

export async function loadWorkflowBundle(request: WorkflowBundleRequest = {}): Promise<string> {
  const { root = path.join(import.meta.dirname, '..'), env = process.env, make = bundle } = request;
  const folder = cacheFolder(env, 'workflows');
  const place = hashOf(await realpath(root));
  const name = `${place}-${await hashSources(root)}.js`;
  try {
    return await readFile(path.join(folder, name), 'utf8');
  } catch {
    // Not made yet, or it can't be read: then it is made.
  }
  // Beside this file: `.ts` in a checkout, `.js` in what is shipped.
  const code = await make(path.join(root, `workflows/index${path.extname(import.meta.filename)}`));
  try {
    await keep(code, { folder, name, place });
  } catch {
    // A container's folders may be read-only; the next start makes it again.
  }
  return code;
}

async function bundle(workflowsPath: string): Promise<string> {
  return (await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') })).code;
}

/** Whole or not at all, also after the machine's loss; those of earlier sources of the same place go. */
async function keep(
  code: string,
  { folder, name, place }: { readonly folder: string; readonly name: string; readonly place: string },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const unfinished = path.join(folder, `${name}.${randomUUID()}`);
  try {
    await writeFile(unfinished, code, { flush: true });
    await rename(unfinished, path.join(folder, name));
  } finally {
    await rm(unfinished, { force: true });
  }
  const earlier = (await readdir(folder)).filter((each) => each.startsWith(`${place}-`) && each !== name);
  await Promise.all(earlier.filter((each) => each.endsWith('.js')).map((each) => rm(path.join(folder, each))));
}

async function hashSources(root: string): Promise<string> {
  const { resolve } = createRequire(import.meta.url);
  const files = [
    ...SDK.map((name) => resolve(`${name}/package.json`)),
    ...(await Promise.all(SOURCES.map((source) => listFiles(path.join(root, source))))).flat(),
  ];
  const hashes = files.map(async (file) => [path.relative(root, file), hashOf(await readFile(file))]);
  return hashOf(JSON.stringify(await Promise.all(hashes)));
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return files.toSorted();
}

function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}
