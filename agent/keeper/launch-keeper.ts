/** Writes an attempt's folder and launches its keeper: detached, in a session of its own, with no pipe to the daemon. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ARGUMENT_BYTES_MAX } from '../../contract/limits.ts';

export interface LaunchSpecification {
  readonly command: string;
  /** Absolute. */
  readonly workdir: string;
  /** The whole environment of the command: nothing is added by the keeper. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute path of bash, or of sh where there is no bash. */
  readonly shell: string;
}

/** Where an attempt's files are, and the cgroup that its command enters. */
export interface AttemptPlace {
  readonly folder: string;
  readonly cgroupPath: string | undefined;
}

/** The keeper's own surroundings: fixed, so that neither PATH nor LD_PRELOAD of anybody changes what it does. */
const KEEPER_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Everything that the keeper needs, complete before it exists. The folder is there since the reserve. */
export function writeAttemptFolder(
  { folder, cgroupPath = '' }: AttemptPlace,
  specification: LaunchSpecification,
): void {
  const { command, shell } = specification;
  let commandArguments = ['-c', '--', command];
  if (Buffer.byteLength(command) > ARGUMENT_BYTES_MAX) {
    // One argument may have 128 KiB (R21); longer commands are read from a file.
    const script = join(folder, 'script');
    writeFileSync(script, command, { mode: 0o600 });
    commandArguments = [script];
  }
  const environment = Object.entries(specification.environment).map(([name, value]) => `${name}=${value}`);
  const words = ['setsid', 'env', '-i', ...environment, shell, ...commandArguments];
  const launch = [
    `workdir=${quoteForShell(specification.workdir)}`,
    `cgroup=${quoteForShell(cgroupPath)}`,
    // The keeper's own files are private; what the command makes is as it would be without a keeper.
    `umask ${process.umask().toString(8).padStart(4, '0')}`,
    `set -- ${words.map(quoteForShell).join(' ')}\n`,
  ];
  writeFileSync(join(folder, 'launch'), launch.join('\n'), { mode: 0o600 });
}

/**
 * Resolves when the keeper process has ended (never rejects): with an error text when it could not even be spawned.
 * The call itself blocks the event loop for the fork. Node's own spawn: nothing of execa's is of use for a process
 * without pipes, and its modules weigh 5 MB that each fork pays for (docs/performance.md).
 */
export async function launchKeeper(options: {
  readonly script: string;
  readonly folder: string;
  readonly segmentBytes: number;
}): Promise<{ readonly spawnError?: string }> {
  const { promise, resolve } = Promise.withResolvers<{ readonly spawnError?: string }>();
  try {
    const keeper = spawn('/bin/sh', [options.script, options.folder, String(options.segmentBytes)], {
      cwd: '/',
      detached: true,
      stdio: 'ignore',
      env: KEEPER_ENVIRONMENT,
    });
    keeper.unref();
    // Once it has a pid only `exit` tells of its end; an error without one means that there is no process.
    keeper.once('error', (error) => {
      if (keeper.pid === undefined) resolve({ spawnError: error.message });
    });
    keeper.once('exit', () => resolve({}));
  } catch (error) {
    // What Node doesn't tell by an event: no memory for the fork, say.
    resolve({ spawnError: (error as Error).message });
  }
  return promise;
}
