/**
 * One agent with a folder of its own, that is killed and restarted over and over; lanes run side by side.
 *
 * Owns: the folder, the agent's process, everything that runs in the folder. Doesn't own: what is true of a key
 * (verify-key.ts). An agent lives detached, so that Ctrl-C reaches the matrix alone, which then cleans up.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentClient } from '../../agent-client/agent-client.ts';
import { createAgentClient } from '../../agent-client/agent-client.ts';
import type { CrashPoint } from '../../agent/crash-points.ts';
import type { Target } from '../../contract/target.ts';
import { waitUntil } from '../fixtures/wait-until.ts';
import { writeInstrumentedKeeper } from './instrumented-keeper.ts';
import { removeCgroupsOf } from './lane-cgroups.ts';
import { killLaneProcesses } from './lane-processes.ts';
import { MatrixKey, SEGMENT_BYTES } from './matrix-key.ts';
import type { KeySpecification } from './matrix-key.ts';

/** A loaded machine may need long for a start or a death; a hang is told after this. */
const DEADLINE_MS = 60_000;
const MAIN = join(import.meta.dirname, '../../agent/main.ts');

export class Lane {
  readonly root: string;
  readonly state: string;
  readonly gates: string;
  readonly runLog: string;
  readonly keys: MatrixKey[] = [];
  readonly client: AgentClient;
  readonly #workspace: string;
  readonly #runtime: string;
  readonly #armed: string;
  readonly #script: string;
  #bootId: string | undefined;
  #child: ChildProcess | undefined;
  #agentId: string | undefined;
  #log = '';

  constructor() {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'latchkey-matrix-')));
    this.state = join(this.root, 'state');
    this.gates = join(this.root, 'gates');
    this.runLog = join(this.root, 'run-log');
    this.#workspace = join(this.root, 'workspace');
    this.#runtime = join(this.root, 'runtime');
    this.#armed = join(this.root, 'armed');
    this.#script = join(this.root, 'keeper.sh');
    for (const folder of [this.gates, this.#workspace, this.#runtime]) mkdirSync(folder);
    writeInstrumentedKeeper(this.#script, this.gates);
    this.client = createAgentClient({ address: `unix:${join(this.state, 'agent.sock')}`, answerMarginMs: DEADLINE_MS });
  }

  get log(): string {
    return this.#log;
  }

  get isAgentDead(): boolean {
    const child = this.#child;
    return child === undefined || child.exitCode !== null || child.signalCode !== null;
  }

  /** False when the agent died before it was ready, as an armed point in its start-up makes it. */
  async startAgent(): Promise<boolean> {
    this.#log = '';
    const child = spawn(process.execPath, [MAIN, '--workspace', this.#workspace, '--state', this.state], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        XDG_RUNTIME_DIR: this.#runtime,
        LATCHKEY_SEGMENT_BYTES: String(SEGMENT_BYTES),
        LATCHKEY_KEEPER_SCRIPT: this.#script,
        LATCHKEY_CRASH_FILE: this.#armed,
        ...(this.#bootId !== undefined && { LATCHKEY_SIMULATED_BOOT_ID: this.#bootId }),
      },
    });
    this.#child = child;
    child.stdout?.on('data', (text: Buffer) => (this.#log += text.toString()));
    child.stderr?.on('data', (text: Buffer) => (this.#log += text.toString()));
    await this.#wait('the agent is ready or dead', () => this.#log.includes('is ready') || this.isAgentDead);
    if (this.isAgentDead && child.signalCode === null) throw new Error(`the agent refused to start: ${this.#log}`);
    this.#agentId ??= /agent (\S+) is ready/.exec(this.#log)?.[1];
    return !this.isAgentDead;
  }

  async requireAgent(): Promise<void> {
    if (!(await this.startAgent())) throw new Error(`the agent died at its start: ${this.#log}`);
  }

  /** Makes the living (or the next) agent die at the n-th passing of a point. */
  arm(point: CrashPoint, passing: number): void {
    writeFileSync(`${this.#armed}.new`, `${point}:${passing}`);
    renameSync(`${this.#armed}.new`, this.#armed);
  }

  disarm(): void {
    rmSync(this.#armed, { force: true });
  }

  async killAgent(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.agentDied();
  }

  /** As a person would: it removes what it keeps outside its folder, such as its cgroups. */
  async stopAgent(): Promise<void> {
    this.#child?.kill('SIGTERM');
    await this.agentDied();
  }

  async agentDied(): Promise<void> {
    await this.#wait('the agent has died', () => this.isAgentDead);
  }

  /** Everything that runs dies, the memory-backed folder is empty, the boot id is another one. Simulated: the disk stays. */
  async killMachine(): Promise<void> {
    killLaneProcesses(this.root);
    await this.agentDied();
    for (const name of readdirSync(this.#runtime)) rmSync(join(this.#runtime, name), { recursive: true });
    this.#bootId = randomUUID();
  }

  async target(): Promise<Target> {
    const { agentId, journalId, incarnation, sequence } = await this.client.info({});
    return { agentId, journalId, incarnation, sequence };
  }

  newKey(target: Target, more: Pick<KeySpecification, 'plan' | 'sleepSeconds'> = {}): MatrixKey {
    const key = new MatrixKey({ number: this.keys.length + 1, target, runLog: this.runLog, ...more });
    this.keys.push(key);
    return key;
  }

  countRuns(key: MatrixKey): number {
    let text = '';
    try {
      text = readFileSync(this.runLog, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    return text.split('\n').filter((line) => line === key.key).length;
  }

  /** Ends everything and leaves nothing; synchronous, because Ctrl-C must not wait. */
  dispose(): void {
    killLaneProcesses(this.root);
    if (this.#agentId !== undefined) removeCgroupsOf(this.#agentId);
    void this.client.close();
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  async #wait(what: string, look: () => boolean): Promise<void> {
    await waitUntil(what, look, { deadlineMs: DEADLINE_MS, describe: () => this.#log });
  }
}
