/** The demo's pieces: real processes in a folder of their own, started, killed and cleaned up by pid. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const READY_MS_MAX = 60_000;
/** Between the polite signal and the other one. */
const STOP_MS_MAX = 8000;

export type PieceName = 'agent' | 'execute worker' | 'turn worker';

export interface Piece {
  readonly name: PieceName;
  readonly pid: number;
  /** What it said when it was ready. */
  readonly readyLine: string;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export class Stage {
  readonly root: string;
  readonly workspace: string;
  readonly runLog: string;
  readonly script: string;
  readonly storeUrl: string;
  readonly log: string;
  readonly #pieces = new Set<Piece>();

  constructor() {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'latchkey-demo-')));
    this.workspace = join(this.root, 'repository');
    this.runLog = join(this.root, 'run-log');
    this.script = join(this.root, 'script.json');
    this.storeUrl = `sqlite:${join(this.root, 'store.db')}`;
    this.log = join(this.root, 'pieces.log');
    mkdirSync(join(this.root, 'runtime'));
    writeFileSync(this.runLog, '');
    writeFileSync(join(this.root, 'agent.env'), `RUN_LOG=${this.runLog}\n`);
  }

  get agentAddress(): string {
    return `unix:${join(this.root, 'agent', 'agent.sock')}`;
  }

  startAgent(): Promise<Piece> {
    const words = ['--workspace', this.workspace, '--state', join(this.root, 'agent')];
    return this.#start('agent', 'agent/main.ts', [...words, '--command-env', join(this.root, 'agent.env')], {
      // Stands for the memory-backed folder of the sequence witness, so that the demo leaves nothing behind.
      XDG_RUNTIME_DIR: join(this.root, 'runtime'),
    });
  }

  startExecuteWorker(temporal: NodeJS.ProcessEnv): Promise<Piece> {
    return this.#start('execute worker', 'workers/execute-worker.ts', [], {
      ...temporal,
      LATCHKEY_AGENT_ADDRESS: this.agentAddress,
    });
  }

  startTurnWorker(temporal: NodeJS.ProcessEnv): Promise<Piece> {
    return this.#start('turn worker', 'workers/turn-worker.ts', [], { ...temporal, LATCHKEY_STORE: this.storeUrl });
  }

  /** Ends every piece, workers first, so that none of them is left asking for the agent. */
  async clear(options: { readonly keepFolder: boolean }): Promise<void> {
    const order: PieceName[] = ['turn worker', 'execute worker', 'agent'];
    for (const name of order) {
      const pieces = [...this.#pieces].filter((piece) => piece.name === name);
      await Promise.all(pieces.map((piece) => piece.kill('SIGTERM')));
    }
    if (!options.keepFolder) rmSync(this.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  async #start(name: PieceName, program: string, words: string[], environment: NodeJS.ProcessEnv): Promise<Piece> {
    const path = join(import.meta.dirname, '..', program);
    // A group of its own: a Ctrl-C in the terminal reaches only the demo, which then ends the pieces in order.
    const child = spawn(process.execPath, [path, ...words], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    // Known from its first moment: an interrupt while it starts must end it too.
    const piece = {
      name,
      pid: child.pid ?? 0,
      readyLine: '',
      kill: async (signal: NodeJS.Signals) => {
        this.#pieces.delete(piece);
        await endChild(child, signal);
      },
    };
    this.#pieces.add(piece);
    try {
      piece.readyLine = await this.#waitUntilReady(name, child);
    } catch (error) {
      this.#pieces.delete(piece);
      throw error;
    }
    return piece;
  }

  #waitUntilReady(name: PieceName, child: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
      let said = '';
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`the ${name} was not ready within ${READY_MS_MAX / 1000} s; it said:\n${said}`));
      }, READY_MS_MAX);
      const hear = (chunk: Buffer): void => {
        // What it says while it is ended has no folder to go to any more.
        if (existsSync(this.root)) appendFileSync(this.log, chunk);
        said += chunk.toString();
        const line = said.split('\n').find((text) => /\bready\b/.test(text));
        if (line === undefined) return;
        clearTimeout(timer);
        resolve(line);
      };
      child.stdout?.on('data', hear);
      child.stderr?.on('data', hear);
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        reject(new Error(`the ${name} ended at start (${signal ?? code}); it said:\n${said}`));
      });
    });
  }
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
}
