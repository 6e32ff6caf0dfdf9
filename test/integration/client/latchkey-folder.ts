/** A workspace with a state folder of its own, and the `latchkey` command line run in it as a person would. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { openStageFolder } from '../../../client/dev/stage-folder.ts';
import type { StageFolder } from '../../../client/dev/stage-folder.ts';
import { findLiveRecord } from '../../../client/dev/stage-record.ts';
import type { StageRecord } from '../../../client/dev/stage-record.ts';
import { findMarked, killMarked } from '../../fixtures/processes.ts';
import type { FoundProcess } from '../../fixtures/processes.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';
import { LATCHKEY, PATIENCE_MS, TerminalRun } from './terminal-run.ts';

export { PATIENCE_MS };

export class LatchkeyFolder {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'latchkey-cli-')));
  readonly workspace = join(this.root, 'workspace');
  readonly runLog = join(this.root, 'run-log');
  readonly gate = join(this.root, 'gate');
  readonly #env: NodeJS.ProcessEnv;

  /** `ownServer`: a dev server of its own, as without any configuration; else the run's. */
  constructor({ ownServer = false } = {}) {
    mkdirSync(this.workspace);
    mkdirSync(join(this.root, 'runtime'));
    const kept = Object.entries(process.env).filter(([name]) => !/^(LATCHKEY_|TEMPORAL_(?!CLI$)|NO_COLOR)/.test(name));
    this.#env = {
      ...Object.fromEntries(kept),
      XDG_STATE_HOME: join(this.root, 'state'),
      XDG_RUNTIME_DIR: join(this.root, 'runtime'),
      // Bundling takes seconds at each start, and isn't what these tests are about.
      LATCHKEY_WORKFLOW_BUNDLE: inject('workflowBundlePath'),
      ...(!ownServer && {
        TEMPORAL_ADDRESS: inject('temporalAddress'),
        TEMPORAL_NAMESPACE: inject('temporalNamespace'),
      }),
    };
    onTestFinished(() => {
      killMarked(this.root);
      rmSync(this.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    });
  }

  get stage(): StageFolder {
    return openStageFolder(this.workspace, this.#env);
  }

  get running(): FoundProcess[] {
    return findMarked(this.root);
  }

  get liveRecord(): StageRecord | undefined {
    return findLiveRecord(this.stage);
  }

  countRuns(): number {
    return existsSync(this.runLog) ? readFileSync(this.runLog, 'utf8').trimEnd().split('\n').length : 0;
  }

  /** One call that runs `command`, then an answer. Gives the model's name. */
  script(command: string): string {
    const file = join(this.root, 'script.json');
    const calls = [{ id: 'a', name: 'execute', arguments: { command } }];
    writeFileSync(file, JSON.stringify({ steps: [{ text: 'I look.', calls }, { text: 'All is well.' }] }));
    return `scripted:${file}`;
  }

  /** Writes one line into the run log, says so, and waits for the gate. */
  gatedScript(): string {
    return this.script(
      `echo ran >> '${this.runLog}'; echo waiting; until [ -e '${this.gate}' ]; do sleep 0.1; done; echo through`,
    );
  }

  openGate(): void {
    writeFileSync(this.gate, '');
  }

  latchkey(words: readonly string[], env: NodeJS.ProcessEnv = {}, input?: string): CliRun {
    return new CliRun(words, {
      cwd: this.workspace,
      env: { ...this.#env, ...env },
      ...(input !== undefined && { input }),
    });
  }

  /** The same at a terminal. */
  terminal(words: readonly string[]): TerminalRun {
    return new TerminalRun(words, { cwd: this.workspace, env: { ...this.#env, TERM: 'xterm' } });
  }
}

export class CliRun {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly #words: readonly string[];

  constructor(
    words: readonly string[],
    { input, ...options }: { cwd: string; env: NodeJS.ProcessEnv; input?: string },
  ) {
    this.#words = words;
    this.child = spawn(process.execPath, [LATCHKEY, ...words], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdin?.end(input ?? '');
    this.child.stdout?.on('data', (bytes: Buffer) => (this.stdout += bytes.toString()));
    this.child.stderr?.on('data', (bytes: Buffer) => (this.stderr += bytes.toString()));
    onTestFinished(() => void this.child.kill('SIGKILL'));
  }

  async said(pattern: RegExp): Promise<void> {
    await this.#until(`it has said ${pattern}`, () => pattern.test(this.stdout + this.stderr) || this.#hasEnded);
    if (!pattern.test(this.stdout + this.stderr)) throw new Error(`it ended without ${pattern}: ${this.#describe()}`);
  }

  /** The exit code. */
  async ended(): Promise<number | null> {
    await this.#until('it has ended', () => this.#hasEnded && this.child.stdout?.readableEnded === true);
    return this.child.exitCode;
  }

  get json(): Record<string, unknown>[] {
    return this.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  get #hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  #describe(): string {
    return `latchkey ${this.#words.join(' ')}\n${this.stdout}\n--\n${this.stderr}`;
  }

  async #until(what: string, look: () => boolean): Promise<void> {
    await waitUntil(`latchkey ${this.#words[0]}: ${what}`, look, {
      deadlineMs: PATIENCE_MS,
      describe: () => this.#describe(),
    });
  }
}
