/** Starts a command as the keeper does (own session, marker in the environment) and ends all of it afterwards. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Leader, TreeRoot } from '../../../agent/process/find-tree.ts';
import { isAlive, readIdentity } from '../../../agent/process/identity.ts';
import type { ProcessIdentity } from '../../../agent/process/identity.ts';

const WAIT_MS_MAX = 10_000;

export interface CommandOptions {
  /** False: started without the marker, like a stranger's program. */
  readonly hasMarker?: boolean;
  readonly uid?: number;
}

export class CommandTree {
  readonly folder: string;
  readonly marker: string;
  readonly leader: Leader;
  readonly child: ChildProcess;
  /** Everything that told its pid, by name: what a test started, it also ends. */
  readonly #noted = new Map<string, ProcessIdentity>();

  private constructor(folder: string, marker: string, child: ChildProcess) {
    this.folder = folder;
    this.marker = marker;
    this.child = child;
    const identity = readIdentity(child.pid ?? 0);
    if (identity === undefined) throw new Error(`the command ended before it was seen (exit ${child.exitCode})`);
    this.leader = { pid: identity.pid, startTimeTicks: identity.startTimeTicks, session: identity.pid };
  }

  /** The script's working directory is `folder`; `note NAME` in it writes the pid that runs it to a file. */
  static async start(script: string, { hasMarker = true, uid }: CommandOptions = {}): Promise<CommandTree> {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-tree-'));
    const marker = randomUUID();
    const environment = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
    const child = spawn('bash', ['-c', `note() { echo "$BASHPID ." > pid.$1; }\n${script}`], {
      cwd: folder,
      detached: true,
      stdio: 'ignore',
      env: hasMarker ? { ...environment, LATCHKEY_CALL: marker } : environment,
      ...(uid === undefined ? {} : { uid }),
    });
    return new CommandTree(folder, marker, child);
  }

  /** What the journal remembers of it. */
  get root(): TreeRoot {
    return { leader: this.leader, marker: this.marker };
  }

  /** The process that noted itself under this name; waits for it. */
  async noted(name: string): Promise<ProcessIdentity> {
    const remembered = this.#noted.get(name);
    if (remembered !== undefined) return remembered;
    const path = join(this.folder, `pid.${name}`);
    await until(`pid.${name} is complete`, () => existsSync(path) && readFileSync(path, 'utf8').endsWith('.\n'));
    const identity = readIdentity(Number.parseInt(await readFile(path, 'utf8'), 10));
    if (identity === undefined) throw new Error(`${name} ended before it was seen`);
    this.#noted.set(name, identity);
    return identity;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of await readdir(this.folder)) {
      if (name.startsWith('pid.')) await this.noted(name.slice('pid.'.length)).catch(() => undefined);
    }
    for (const recorded of [this.leader, ...this.#noted.values()]) {
      const current = readIdentity(recorded.pid);
      if (current?.startTimeTicks === recorded.startTimeTicks && isAlive(current)) process.kill(current.pid, 'SIGKILL');
    }
    this.#killGroup();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** What forks faster than it can be looked at is still in the group. */
  #killGroup(): void {
    try {
      process.kill(-this.leader.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Waits for a level, with a deadline that says what did not come. */
export async function until(what: string, isReached: () => boolean): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!isReached()) {
    if (performance.now() > deadline) throw new Error(`not within ${WAIT_MS_MAX} ms: ${what}`);
    await setTimeout(5);
  }
}
