/**
 * The whole, in a folder of its own: server on a file, agent, workers, and a proxy on each of their two lines.
 *
 * Owns: the processes. One that dies is started again after a moment of the seed's choice, as a supervisor would, unless
 * somebody holds it down. Doesn't own: what is true afterwards (checkers/).
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { createAgentClient } from '../../agent-client/agent-client.ts';
import type { AgentClient } from '../../agent-client/agent-client.ts';
import type { AgentId } from '../../contract/ids.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import { connectClient } from '../../tools/temporal/connection.ts';
import { loadWorkflowBundle } from '../../workers/workflow-bundle.ts';
import { removeCgroupsOf } from '../crash-matrix/lane-cgroups.ts';
import { killLaneProcesses } from '../crash-matrix/lane-processes.ts';
import type { SeededRandom } from '../crash-matrix/seeded-random.ts';
import { FaultProxy } from '../fakes/fault-proxy.ts';
import { TemporalProxy } from '../fakes/temporal-proxy.ts';
import { Arms } from './arms.ts';
import { Piece } from './piece.ts';
import { FileServer } from './server.ts';

export const PIECE_KINDS = ['agent', 'execute-worker', 'turn-worker'] as const;
export type PieceKind = (typeof PIECE_KINDS)[number];

/** Short, so that a dead worker is noticed within a round; long enough for a busy machine's live ones. */
export const HEARTBEAT_TIMEOUT_MS = 3000;
const RESTART_AFTER_MS_MAX = 500;
const RESTART_AGAIN_MS = 500;
/** So soon after a turn is lost its calls are settled. */
const SWEEP_SECONDS = 5;

interface Slot {
  readonly kind: PieceKind;
  readonly number: number;
  piece: Piece | undefined;
  isHeld: boolean;
}

export interface StageOptions {
  readonly random: SeededRandom;
  /** How many workers of each kind poll side by side. */
  readonly workers: number;
  /** Made ahead; else it is made here. */
  readonly workflowBundle?: string | undefined;
  /** Another store than a file in the folder. */
  readonly storeUrl?: string | undefined;
  readonly turnWorkerEnv?: Readonly<Record<string, string>> | undefined;
}

export class Stage {
  readonly root: string;
  readonly runLog: string;
  readonly arms: Arms;
  readonly server: FileServer;
  readonly client: Client;
  readonly store: Store;
  readonly agentClient: AgentClient;
  readonly agentProxy: FaultProxy;
  readonly temporalProxy: TemporalProxy;
  readonly turnQueue = 'fault-turns';
  #agentId: AgentId | undefined;
  readonly #slots: Slot[] = [];
  readonly #random: SeededRandom;
  readonly #bundle: string;
  readonly #turnWorkerEnv: Readonly<Record<string, string>>;
  #isClosing = false;
  #lastEnds: string[] = [];

  private constructor(given: {
    root: string;
    bundle: string;
    server: FileServer;
    client: Client;
    store: Store;
    agentProxy: FaultProxy;
    temporalProxy: TemporalProxy;
    random: SeededRandom;
    turnWorkerEnv: Readonly<Record<string, string>>;
  }) {
    this.root = given.root;
    this.#bundle = given.bundle;
    this.server = given.server;
    this.client = given.client;
    this.store = given.store;
    this.agentProxy = given.agentProxy;
    this.temporalProxy = given.temporalProxy;
    this.#random = given.random;
    this.#turnWorkerEnv = given.turnWorkerEnv;
    this.runLog = join(this.root, 'run-log');
    this.arms = new Arms(join(this.root, 'arms'));
    this.agentClient = createAgentClient({ address: `unix:${join(this.root, 'agent/agent.sock')}` });
  }

  /** `onRoot` hears of the folder at once: whatever goes wrong later, what runs in it can be ended. */
  static async open(options: StageOptions, onRoot: (root: string) => void): Promise<Stage> {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'latchkey-faults-')));
    onRoot(root);
    for (const name of ['workspace', 'runtime', 'arms']) mkdirSync(join(root, name));
    writeFileSync(join(root, 'run-log'), '');
    const bundle = options.workflowBundle ?? (await makeBundle(root));
    const server = await FileServer.start(root);
    const { address, namespace } = server;
    const storeUrl = options.storeUrl ?? `sqlite:${join(root, 'store.db')}`;
    const stage = new Stage({
      root,
      bundle,
      server,
      client: await connectClient({ address, namespace, env: {} }),
      store: await openStore(storeUrl),
      agentProxy: await FaultProxy.open(join(root, 'proxy.sock'), join(root, 'agent/agent.sock')),
      temporalProxy: await TemporalProxy.open(server.port),
      random: options.random,
      turnWorkerEnv: { LATCHKEY_STORE: storeUrl, ...options.turnWorkerEnv },
    });
    stage.#slots.push({ kind: 'agent', number: 1, piece: undefined, isHeld: false });
    for (let number = 1; number <= options.workers; number++) {
      for (const kind of ['execute-worker', 'turn-worker'] as const) {
        stage.#slots.push({ kind, number, piece: undefined, isHeld: false });
      }
    }
    await Promise.all(stage.#slots.map((slot) => stage.#start(slot)));
    stage.#agentId = (await stage.agentClient.info({})).agentId;
    return stage;
  }

  get agentId(): AgentId {
    if (this.#agentId === undefined) throw new Error('the agent has not told its id yet');
    return this.#agentId;
  }

  /** Living ones. */
  pieces(kind: PieceKind): Piece[] {
    return this.#slots.flatMap(({ kind: found, piece }) =>
      found === kind && piece !== undefined && !piece.hasEnded ? [piece] : [],
    );
  }

  /** Signals all of a kind; what ends by it stays down for so long. Returns how many were signalled. */
  async end(kind: PieceKind, signal: 'SIGKILL' | 'SIGTERM', downMs: number): Promise<number> {
    const signalled = await this.hold(kind, signal);
    // Not a wait for anything: how long nobody is there is the seed's choice.
    await delay(downMs);
    this.release(kind);
    return signalled;
  }

  /** The same, until they are released. */
  async hold(kind: PieceKind, signal: 'SIGKILL' | 'SIGTERM'): Promise<number> {
    const slots = this.#slots.filter((slot) => slot.kind === kind);
    for (const slot of slots) slot.isHeld = true;
    // One that just comes back can't be signalled before it is there.
    await this.#areUp(slots);
    const signalled = this.pieces(kind).filter((piece) => piece.signal(signal));
    await Promise.all(signalled.map((piece) => piece.ended()));
    return signalled.length;
  }

  release(kind: PieceKind): void {
    const slots = this.#slots.filter((slot) => slot.kind === kind);
    for (const slot of slots) slot.isHeld = false;
    for (const slot of slots) if (slot.piece?.hasEnded === true) void this.#restart(slot);
  }

  /** A deploy: one after another is ended by SIGTERM, after a fresh one has come up in its place. */
  async replace(kind: PieceKind): Promise<number> {
    const slots = this.#slots.filter((slot) => slot.kind === kind);
    for (const slot of slots) {
      const old = slot.piece;
      await this.#start(slot);
      old?.signal('SIGTERM');
      await old?.ended();
    }
    return slots.length;
  }

  /** Stops all of a kind for so long, and lets them go on. */
  async freeze(kind: PieceKind, ms: number): Promise<number> {
    const frozen = this.pieces(kind).filter((piece) => piece.signal('SIGSTOP'));
    await delay(ms);
    for (const piece of frozen) piece.signal('SIGCONT');
    return frozen.length;
  }

  async endServer(signal: 'SIGKILL' | 'SIGTERM', downMs: number): Promise<void> {
    await this.server.end(signal);
    await delay(downMs);
    await this.server.restart();
  }

  async freezeServer(ms: number): Promise<void> {
    process.kill(this.server.pid, 'SIGSTOP');
    await delay(ms);
    process.kill(this.server.pid, 'SIGCONT');
  }

  /** When every piece is there again. */
  async isWhole(): Promise<void> {
    await this.#areUp(this.#slots);
  }

  /** The workflow code that its turn workers run. */
  get workflowBundle(): { readonly codePath: string } {
    return { codePath: this.#bundle };
  }

  readRunLog(): string[] {
    return readFileSync(this.runLog, 'utf8').split('\n');
  }

  describe(): string {
    const logs = this.#slots.map(({ kind, number, piece }) => piece?.log ?? `${kind} ${number} was never started`);
    return [...logs, ...this.#lastEnds].join('\n');
  }

  #start(slot: Slot): Promise<void> {
    return this.#launch(slot).then((isReady) => {
      if (!isReady) throw new Error(`the ${slot.kind} ended at its start: ${slot.piece?.log}`);
    });
  }

  async #launch(slot: Slot): Promise<boolean> {
    const piece = Piece.spawn(this.#request(slot));
    slot.piece = piece;
    piece.onEnd(() => {
      this.#lastEnds = [...this.#lastEnds.slice(-3), `before: ${piece.log.slice(-2000)}`];
      if (!slot.isHeld && slot.piece === piece) void this.#restart(slot);
    });
    return piece.becomesReady();
  }

  /** Until it is there: while the server is away a worker can't come up. */
  async #restart(slot: Slot): Promise<void> {
    const dead = slot.piece;
    await delay(this.#random.between(0, RESTART_AFTER_MS_MAX));
    // A second look: somebody else may have been quicker.
    if (this.#isClosing || slot.isHeld || slot.piece !== dead) return;
    const isReady = await this.#launch(slot).catch(() => false);
    if (!isReady) await delay(RESTART_AGAIN_MS);
  }

  async #areUp(slots: readonly Slot[]): Promise<void> {
    for (const slot of slots) {
      while (slot.piece === undefined || slot.piece.hasEnded || !(await slot.piece.becomesReady())) {
        if (slot.isHeld && slot.piece?.hasEnded === true) break;
        await delay(50);
      }
    }
  }

  #request({ kind, number }: Slot) {
    const temporal = {
      TEMPORAL_ADDRESS: this.temporalProxy.address,
      TEMPORAL_NAMESPACE: this.server.namespace,
      LATCHKEY_FAULT_FOLDER: this.arms.folder,
      LATCHKEY_HEARTBEAT_THROTTLE_MS: '500',
    };
    const common = { name: `${kind} ${number}`, cache: join(this.root, 'compile-cache') };
    switch (kind) {
      case 'agent': {
        const words = ['--workspace', join(this.root, 'workspace'), '--state', join(this.root, 'agent')];
        const env: Record<string, string> = { XDG_RUNTIME_DIR: join(this.root, 'runtime') };
        return { ...common, program: 'agent/main.ts', words, env };
      }
      case 'execute-worker': {
        const env = { ...temporal, LATCHKEY_AGENT_ADDRESS: this.agentProxy.address };
        return { ...common, program: 'workers/execute-worker.ts', env };
      }
      case 'turn-worker': {
        const env = {
          ...temporal,
          LATCHKEY_TURN_QUEUE: this.turnQueue,
          ...this.#turnWorkerEnv,
          LATCHKEY_WORKFLOW_BUNDLE: this.#bundle,
          LATCHKEY_SWEEP_SECONDS: String(SWEEP_SECONDS),
        };
        return { ...common, program: 'workers/turn-worker.ts', env };
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    for (const slot of this.#slots) slot.isHeld = true;
    await this.agentClient.close();
    await this.client.connection.close();
    await this.store.close();
    await this.temporalProxy.close();
    await this.agentProxy.close();
  }
}

/** Ends everything in the folder and removes it; synchronous, because Ctrl-C must not wait. */
export function disposeStage(root: string, agentId: AgentId | undefined): void {
  killLaneProcesses(root);
  if (agentId !== undefined) removeCgroupsOf(agentId);
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}

async function makeBundle(root: string): Promise<string> {
  const path = join(root, 'workflow-bundle.js');
  writeFileSync(path, await loadWorkflowBundle());
  return path;
}
