/**
 * The environment of a command: an allow-list of the daemon's own, a set that keeps programs from waiting for a
 * person, the workspace's env file, the call's env. The daemon's secrets, Node flags and loader variables never pass.
 */
import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

const PASSED_ON = ['HOME', 'USER', 'LOGNAME', 'SHELL', 'TZ', 'TMPDIR', 'LANG', 'LANGUAGE', 'PATH', 'XDG_RUNTIME_DIR'];
const PATH_DEFAULT = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** No pager, editors that don't wait, no colour, no prompts, unbuffered where a variable does it. */
const NON_INTERACTIVE = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  DEBIAN_FRONTEND: 'noninteractive',
  PYTHONUNBUFFERED: '1',
};

/** Ours: a caller can't forge the marker. Everything else a command could set for itself just as well. */
const RESERVED = /^LATCHKEY_/;

export interface EnvironmentSources {
  readonly daemon: NodeJS.ProcessEnv;
  /** `KEY=value` lines; read at each start, so that editing it needs no restart. */
  readonly envFile: string | undefined;
  readonly call: Readonly<Record<string, string>>;
  /** Value of LATCHKEY_CALL: by it the tree of a running call is found (A2). */
  readonly marker: string;
}

export function buildCommandEnvironment(sources: EnvironmentSources): Record<string, string> {
  const environment: Record<string, string> = { PATH: PATH_DEFAULT, HOME: '/' };
  for (const name of PASSED_ON) {
    const value = sources.daemon[name];
    if (value !== undefined && value !== '') environment[name] = value;
  }
  if (!/utf-?8/i.test(environment['LANG'] ?? '')) environment['LANG'] = 'C.UTF-8';
  Object.assign(environment, NON_INTERACTIVE, readEnvFile(sources.envFile), withoutReserved(sources.call));
  environment['LATCHKEY_CALL'] = sources.marker;
  return environment;
}

function readEnvFile(path: string | undefined): Record<string, string> {
  if (path === undefined || !existsSync(path)) return {};
  return withoutReserved(parseEnv(readFileSync(path, 'utf8')));
}

function withoutReserved(environment: NodeJS.Dict<string>): Record<string, string> {
  const entries = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && /^[A-Za-z_][A-Za-z0-9_]*$/.test(entry[0]) && !RESERVED.test(entry[0]),
  );
  return Object.fromEntries(entries);
}
