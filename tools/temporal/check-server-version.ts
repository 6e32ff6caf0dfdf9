import { runCommand } from './run-command.ts';
import type { SourceAnswer, SourceContext } from './server-source.ts';

/** The first server with pause and reset of activities, which operators use on a stuck call. */
const SERVER_VERSION_MIN = { major: 1, minor: 28 } as const;
const VERSION_TIMEOUT_MS = 10_000;

/** Takes an executable only when it runs here and its server is new enough. An unreadable version is given the benefit of the doubt. */
export async function checkServerVersion(path: string, context: SourceContext): Promise<SourceAnswer> {
  const run = await runCommand({ file: path, args: ['--version'], env: context.env, timeoutMs: VERSION_TIMEOUT_MS });
  if (!run.hasSucceeded) return { reason: `${path} --version ${run.end}` };
  const match = /Server (\d+)\.(\d+)/.exec(run.lines.join('\n'));
  if (match === null) return { path };
  const [major, minor] = [Number(match[1]), Number(match[2])];
  const isOld =
    major < SERVER_VERSION_MIN.major || (major === SERVER_VERSION_MIN.major && minor < SERVER_VERSION_MIN.minor);
  if (!isOld) return { path };
  return {
    reason: `${path} has server ${major}.${minor}; ${SERVER_VERSION_MIN.major}.${SERVER_VERSION_MIN.minor} or newer is needed`,
  };
}
