/**
 * The agent daemon: `node agent/main.ts --workspace DIR --state DIR`, or `latchkey agent …`, which comes here.
 * `… adopt --state DIR` makes a copied state folder an agent of its own.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CodedError } from '../contract/failures.ts';
import { keepSmall } from './keep-small.ts';

export const AGENT_USAGE = `Usage: latchkey agent --workspace DIR --state DIR [options]
       latchkey agent adopt --state DIR

Runs the daemon that owns the commands of a workspace. It outlives every client, and commands outlive it.

  --workspace DIR      where commands run (default: the current folder)
  --state DIR          its journal and the commands' output; on a local disk, outside the workspace
  --socket PATH        unix socket to listen on (default: agent.sock in the state folder)
  --listen HOST:PORT   TCP instead of the socket; needs LATCHKEY_AGENT_TOKEN in the environment
  --command-env FILE   KEY=value lines that every command gets
  --startup FILE       program to run once after each boot; commands wait until it has ended
  --keep-output TIME   how long output is kept after the exit, such as 24h (the default) or 90m
  --keep-receipt TIME  how long the exit is known after that, such as 30d (the default)
  --no-cgroup          no cgroup for each command, also where cgroup v2 would work (or LATCHKEY_CGROUP=off)
  --json               the ready line, and defects, as JSON

adopt: after a copy, a clone or a restore of the state folder: a new agent id; what was open becomes lost.

Example: latchkey agent --workspace ~/project --state ~/.local/state/latchkey/project
`;

/** Runs until SIGINT or SIGTERM. Returns the exit code; prints one clear line for everything that goes wrong. */
export async function agentMain(words: readonly string[]): Promise<number> {
  let flags;
  try {
    flags = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        workspace: { type: 'string', default: process.cwd() },
        state: { type: 'string' },
        socket: { type: 'string' },
        listen: { type: 'string' },
        'command-env': { type: 'string' },
        startup: { type: 'string' },
        'keep-output': { type: 'string' },
        'keep-receipt': { type: 'string' },
        'no-cgroup': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    return fail(`${(error as Error).message.split('\n')[0]}\nSee latchkey agent --help.`);
  }
  const { values, positionals } = flags;
  if (values.help) {
    process.stdout.write(AGENT_USAGE);
    return 0;
  }
  const [verb, ...rest] = positionals;
  if (rest.length > 0 || (verb !== undefined && verb !== 'adopt')) {
    return fail(`unknown word "${verb === 'adopt' ? rest[0] : verb}". See latchkey agent --help.`);
  }
  if (values.state === undefined) return fail('--state is missing: name a folder for the journal, on a local disk.');
  try {
    if (verb === 'adopt') return await adopt(values.state);
    await serve({ ...values, state: values.state });
    return 0;
  } catch (error) {
    if (error instanceof CodedError) return fail(error.message);
    return fail(`the agent could not start: ${(error as Error).message}`);
  }
}

async function adopt(state: string): Promise<number> {
  const { AgentState } = await import('./state/open-state.ts');
  if (!existsSync(join(state, 'journal.db'))) {
    throw new CodedError('configuration', `${state} has no journal: it is not the state folder of an agent (--state)`);
  }
  const { agentId, lost } = AgentState.adopt(state, process.env);
  process.stdout.write(`adopted as ${agentId}; ${lost} open call${lost === 1 ? '' : 's'} became lost\n`);
  return 0;
}

async function serve(values: {
  workspace: string;
  state: string;
  socket?: string | undefined;
  listen?: string | undefined;
  'command-env'?: string | undefined;
  startup?: string | undefined;
  'keep-output'?: string | undefined;
  'keep-receipt'?: string | undefined;
  'no-cgroup': boolean;
  json: boolean;
}): Promise<void> {
  const stopped = Promise.withResolvers<void>();
  const stop = (): void => stopped.resolve();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const token = process.env['LATCHKEY_AGENT_TOKEN'];
  keepSmall();
  const { runAgent } = await import('./run-agent.ts');
  const agent = await runAgent({
    workspace: values.workspace,
    state: values.state,
    ...(values.socket !== undefined && { socket: values.socket }),
    ...(values.listen !== undefined && { listen: parseListen(values.listen) }),
    ...(values['command-env'] !== undefined && { envFile: requireFile('--command-env', values['command-env']) }),
    ...(values.startup !== undefined && { startup: requireFile('--startup', values.startup) }),
    ...(values['keep-output'] !== undefined && {
      outputRetentionMs: parseTime('--keep-output', values['keep-output']),
    }),
    ...(values['keep-receipt'] !== undefined && {
      receiptRetentionMs: parseTime('--keep-receipt', values['keep-receipt']),
    }),
    ...(token !== undefined && token !== '' && { token }),
    ...(values['no-cgroup'] && { isCgroupWanted: false }),
    environment: process.env,
    version: readVersion(),
    onDefect: (error, context) => report(values.json, error, context),
  });
  const { adopted, settled } = agent.recovered;
  const ready = {
    ready: true,
    address: agent.address,
    agentId: agent.target.agentId,
    pid: process.pid,
    adopted,
    settled,
  };
  process.stdout.write(
    values.json
      ? `${JSON.stringify(ready)}\n`
      : `agent ${ready.agentId} is ready on ${ready.address} (pid ${ready.pid}; ${adopted} commands adopted, ${settled} settled)\n`,
  );
  await stopped.promise;
  await agent.close();
  // Whatever still waits for a command is let go of; kill intents are rows, and the next agent resumes them.
  process.exit(0);
}

function parseListen(text: string): { host: string; port: number } {
  const match = /^(.+):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match?.[1] === undefined || port > 65_535) {
    throw new CodedError('configuration', `--listen wants HOST:PORT, not "${text}"`);
  }
  return { host: match[1], port };
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function parseTime(flag: string, text: string): number {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  const unitMs = UNIT_MS[match?.[2] ?? ''];
  if (match === null || unitMs === undefined) {
    throw new CodedError('configuration', `${flag} wants a time such as 30s, 90m, 24h or 30d, not "${text}"`);
  }
  return Number(match[1]) * unitMs;
}

function requireFile(flag: string, path: string): string {
  if (existsSync(path)) return path;
  throw new CodedError('configuration', `the file ${path} does not exist (${flag})`);
}

function report(isJson: boolean, error: unknown, context: Record<string, unknown>): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(
    isJson ? `${JSON.stringify({ defect: text, ...context })}\n` : `defect ${JSON.stringify(context)}: ${text}\n`,
  );
}

function readVersion(): string {
  for (const place of ['../package.json', '../../package.json']) {
    try {
      return (JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as { version: string }).version;
    } catch {
      // Built code lies one folder deeper than the source.
    }
  }
  return 'unknown';
}

function fail(message: string): number {
  process.stderr.write(`latchkey agent: ${message}\n`);
  return 1;
}

if (import.meta.main) process.exitCode = await agentMain(process.argv.slice(2));
