/** The pieces of one run: a real server, the programs as they are shipped, and the two yardsticks; all ended by pid. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { createAgentClient } from '../agent-client/agent-client.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import { targetOf } from '../agent-client/read-answer.ts';
import type { Target } from '../contract/target.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { connectClient } from '../tools/temporal/connection.ts';
import { startDevServer } from '../tools/temporal/dev-server.ts';
import type { DevServer } from '../tools/temporal/dev-server.ts';
import { startPiece } from './piece.ts';
import type { Piece } from './piece.ts';

const ROOT = join(import.meta.dirname, '..');

export const TURN_QUEUE = 'bench-turns';
export const PLAIN_QUEUE = 'bench-plain';

export interface Stage {
  readonly server: DevServer;
  readonly client: Client;
  readonly store: Store;
  readonly agent: Piece;
  readonly agentClient: AgentClient;
  readonly target: Target;
  /** Another one that gives commands no cgroup, to tell what a cgroup costs. */
  readonly agentWithoutCgroups: Pick<Stage, 'agentClient' | 'target'>;
  readonly executeWorker: Piece;
  readonly turnWorker: Piece;
  readonly plainWorker: Piece;
  readonly spawner: Piece;
  startExecuteWorker(): Promise<Piece>;
  /** A path in the run's own folder, which goes with the run. */
  path(name: string): string;
  writeScript(name: string, script: object): string;
}

/** What is shipped, and the yardsticks built the same way: running `.ts` directly costs a process some 25 MB. */
export function build(): void {
  execFileSync(process.execPath, ['tools/build.ts'], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  execFileSync('tsc', ['-p', 'bench'], { cwd: ROOT, stdio: ['ignore', 2, 2] });
}

/** Whatever is started is put on `cleanUp` at once, to be ended in reverse order. */
export async function openStage(cleanUp: (() => Promise<void>)[], say: (line: string) => void): Promise<Stage> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'latchkey-bench-')));
  cleanUp.push(async () => rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  const path = (name: string): string => join(root, name);
  for (const name of ['workspace', 'runtime']) mkdirSync(path(name));

  const server = await startDevServer({ onProgress: say });
  cleanUp.push(() => server.stop());
  const { address, namespace } = server;
  const client = await connectClient({ address, namespace });
  cleanUp.push(() => client.connection.close());
  const storeUrl = `sqlite:${path('store.db')}`;
  const store = await openStore(storeUrl);
  cleanUp.push(() => store.close());

  const temporal = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  const start = async (name: string, program: string, more: { words?: string[]; environment?: NodeJS.ProcessEnv }) => {
    const piece = await startPiece({ name, program: join(ROOT, 'dist', program), log: path('pieces.log'), ...more });
    cleanUp.push(() => piece.end('SIGTERM'));
    return piece;
  };
  const agentAddress = `unix:${path('agent/agent.sock')}`;
  const startExecuteWorker = () =>
    start('execute worker', 'workers/execute-worker.js', {
      environment: { ...temporal, LATCHKEY_AGENT_ADDRESS: agentAddress },
    });

  const startAgent = async (name: string, words: string[]) => {
    const agent = await start(name, 'agent/main.js', {
      words: ['--workspace', path('workspace'), '--state', path(name), ...words],
      // Stands for the memory-backed folder of the sequence witness, so that nothing is left behind.
      environment: { XDG_RUNTIME_DIR: path('runtime') },
    });
    const agentClient = createAgentClient({ address: `unix:${path(`${name}/agent.sock`)}` });
    cleanUp.push(() => agentClient.close());
    return { agent, agentClient, target: targetOf(await agentClient.info({})) };
  };
  return {
    server,
    client,
    store,
    ...(await startAgent('agent', [])),
    agentWithoutCgroups: await startAgent('agent-without-cgroups', ['--no-cgroup']),
    executeWorker: await startExecuteWorker(),
    turnWorker: await start('turn worker', 'workers/turn-worker.js', {
      environment: { ...temporal, LATCHKEY_STORE: storeUrl, LATCHKEY_TURN_QUEUE: TURN_QUEUE },
    }),
    plainWorker: await start('plain worker', 'bench/plain-worker.js', {
      environment: { ...temporal, BENCH_TASK_QUEUE: PLAIN_QUEUE },
    }),
    spawner: await start('bare spawner', 'bench/bare-spawner.js', {}),
    startExecuteWorker,
    path,
    writeScript: (name, script) => {
      writeFileSync(path(name), JSON.stringify(script));
      return path(name);
    },
  };
}
