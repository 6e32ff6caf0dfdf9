import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { cacheFolder, type Environment } from './cache-folder.ts';
import { checkServerVersion } from './check-server-version.ts';
import { findOnPath, isExecutableFile } from './find-on-path.ts';
import { runCommand, type CommandEnd } from './run-command.ts';
import type { ServerSource, SourceAnswer, SourceContext } from './server-source.ts';

const MODULE = 'github.com/temporalio/cli';
/** About two minutes on two cores with the modules at hand; a slow line and a slow machine together need more. */
const BUILD_TIMEOUT_MS = 40 * 60 * 1000;
const PROGRESS_EVERY_MS = 5000;

/** The dev server built from the Go module that `go.mod` and `go.sum` beside this file pin, hashes and all. */
export const goBuild: ServerSource = {
  name: 'Go build of the pinned CLI',
  async look(context) {
    const executable = await builtExecutable(context.env);
    if (!(await isExecutableFile(executable))) return { reason: 'not built yet' };
    return checkServerVersion(executable, context);
  },
  async make(context) {
    const go = await findOnPath('go', context.env);
    if (go === undefined) return { reason: '`go` is not on PATH' };
    return build(go, await builtExecutable(context.env), context);
  },
};

async function builtExecutable(env: Environment): Promise<string> {
  const goMod = await readFile(path.join(import.meta.dirname, 'go.mod'), 'utf8');
  const version = new RegExp(`${MODULE} v([0-9][^\\s]*)`).exec(goMod)?.[1];
  if (version === undefined) throw new Error(`tools/temporal/go.mod does not pin ${MODULE}`);
  return path.join(cacheFolder(env, 'temporal'), `temporal-${version}`);
}

async function build(go: string, executable: string, context: SourceContext): Promise<SourceAnswer> {
  // Built under a name of its own and renamed: two builders at once, or a killed one, leave no half executable behind.
  const unfinished = `${executable}.building-${randomUUID()}`;
  try {
    await mkdir(path.dirname(executable), { recursive: true });
    const run = await runGo(go, unfinished, context);
    if (!run.hasSucceeded) return { reason: `go build ${run.end}: ${run.lines.slice(-5).join(' | ')}` };
    await rename(unfinished, executable);
  } catch (error) {
    return { reason: `can't write to the cache folder: ${String(error)}` };
  } finally {
    await rm(unfinished, { force: true });
  }
  return checkServerVersion(executable, context);
}

async function runGo(go: string, output: string, context: SourceContext): Promise<CommandEnd> {
  const startedAtMs = performance.now();
  let packages = 0;
  let doing = 'looking at modules';
  const report = (): void =>
    context.onProgress(
      `building the Temporal dev server: ${Math.round((performance.now() - startedAtMs) / 1000)} s, ` +
        `${packages} packages, now ${doing}`,
    );
  report();
  const timer = setInterval(report, PROGRESS_EVERY_MS);
  try {
    return await runCommand({
      file: go,
      args: ['build', '-mod=readonly', '-v', '-o', output, `${MODULE}/cmd/temporal`],
      cwd: import.meta.dirname,
      // Without cgo no C compiler is needed; the server's SQLite is pure Go. A go.work of the user's must not join in.
      env: { ...context.env, CGO_ENABLED: '0', GOWORK: 'off' },
      timeoutMs: BUILD_TIMEOUT_MS,
      onLine(line) {
        doing = line;
        if (!line.startsWith('go: ')) packages += 1;
      },
    });
  } finally {
    clearInterval(timer);
  }
}
