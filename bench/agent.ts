/**
 * `npm run bench:agent [-- --json] [-- --quick]`: the agent alone, as it is shipped: bursts of starts, adoption after a
 * kill, output through its reader, memory with many commands, and how soon an exit is seen.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createAgentClient } from '../agent-client/agent-client.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import type { ChatId, ExecutionKey, Nonce } from '../contract/ids.ts';
import type { Target } from '../contract/target.ts';
import type { OutputAnswer } from '../contract/wire/output.ts';
import { startPiece } from './piece.ts';
import type { Piece } from './piece.ts';
import { readCpuMs, readMemory } from './process-figures.ts';
import { build } from './stage.ts';
import { median, summarize } from './statistics.ts';
import type { Figure } from './statistics.ts';

const ROOT = join(import.meta.dirname, '..');
const WAIT_MS = 30_000;
/** As many chats as keep each below the limit of open commands. */
const CHATS = 16;

interface Extent {
  readonly bursts: readonly number[];
  readonly running: number;
  readonly outputMb: number;
  readonly exits: number;
  readonly rounds: number;
}

const FULL: Extent = { bursts: [64, 256], running: 500, outputMb: 400, exits: 200, rounds: 5 };
const QUICK: Extent = { bursts: [16, 32], running: 40, outputMb: 50, exits: 20, rounds: 1 };

class AgentBench {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'latchkey-bench-agent-')));
  client!: AgentClient;
  target!: Target;
  agent!: Piece;
  #next = 1;

  /** Returns how long the start took, from the spawn to the line that it is ready. */
  async startAgent(): Promise<number> {
    for (const name of ['workspace', 'runtime']) mkdirSync(join(this.root, name), { recursive: true });
    const beganMs = performance.now();
    this.agent = await startPiece({
      name: 'agent',
      program: join(ROOT, 'dist/agent/main.js'),
      words: ['--workspace', join(this.root, 'workspace'), '--state', join(this.root, 'state')],
      environment: { XDG_RUNTIME_DIR: join(this.root, 'runtime') },
      log: join(this.root, 'log'),
    });
    const tookMs = performance.now() - beganMs;
    this.client ??= createAgentClient({ address: `unix:${join(this.root, 'state', 'agent.sock')}` });
    const { agentId, journalId, incarnation, sequence } = await this.client.info({});
    this.target = { agentId, journalId, incarnation, sequence };
    return tookMs;
  }

  async start(command: string) {
    const number = this.#next++;
    const call = {
      target: this.target,
      chatId: `bench-${number % CHATS}` as ChatId,
      key: `${number}-bench` as ExecutionKey,
      nonce: 'bench' as Nonce,
    };
    await this.client.start({ ...call, command, background: false, waitMs: WAIT_MS });
    return call;
  }

  async end(call: Awaited<ReturnType<AgentBench['start']>>): Promise<OutputAnswer> {
    for (;;) {
      const answer = await this.client.output({ ...call, view: { headBytes: 256, tailBytes: 256 }, waitMs: WAIT_MS });
      if (answer.state === 'exited') return answer;
      if (answer.state === 'lost') throw new Error(`lost: ${answer.reason}`);
    }
  }

  async clear(): Promise<void> {
    await this.client?.close();
    await this.agent?.end('SIGTERM');
    rmSync(this.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

async function measureBurst(bench: AgentBench, count: number, rounds: number): Promise<Figure> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const beganMs = performance.now();
    await Promise.all(Array.from({ length: count }, async () => bench.end(await bench.start('true'))));
    samples.push(performance.now() - beganMs);
  }
  return summarize(samples);
}

/** Wall clock of the shell just before it exits, against ours when the answer is there. */
async function measureExitSeen(bench: AgentBench, count: number) {
  const samples: number[] = [];
  for (let index = 0; index < count; index++) {
    const call = await bench.start('sleep 0.02; printf %s "$EPOCHREALTIME"');
    const answer = await bench.end(call);
    const seenMs = performance.timeOrigin + performance.now();
    const text = Buffer.from(answer.view?.head ?? '', 'base64').toString();
    samples.push(seenMs - Number(text.replace(',', '.')) * 1000);
  }
  const sorted = samples.toSorted((a, b) => a - b);
  return { p50Ms: median(samples), p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN, count };
}

/** The same bytes through the agent's reader and through `cat` into a file, in turn. */
async function measureOutput(bench: AgentBench, megabytes: number, rounds: number) {
  const throughAgent: number[] = [];
  const throughCat: number[] = [];
  let cpuMs = 0;
  for (let round = 0; round < rounds; round++) {
    const cpuBefore = readCpuMs(bench.agent.pid);
    const call = await bench.start(`head -c ${megabytes}000000 /dev/zero`);
    const answer = await bench.end(call);
    if (answer.total !== megabytes * 1_000_000) throw new Error(`${answer.total} bytes of ${megabytes} MB`);
    cpuMs += readCpuMs(bench.agent.pid) - cpuBefore;
    throughAgent.push(answer.exit?.durationMs ?? Number.NaN);
    const beganMs = performance.now();
    execFileSync('sh', ['-c', `head -c ${megabytes}000000 /dev/zero | cat > '${join(bench.root, 'cat')}'`]);
    throughCat.push(performance.now() - beganMs);
  }
  return {
    agentMbPerS: (megabytes * 1000) / median(throughAgent),
    catMbPerS: (megabytes * 1000) / median(throughCat),
    ratioToCat: median(throughCat) / median(throughAgent),
    agentCpuMsPerRound: cpuMs / rounds,
  };
}

/** Many commands running: memory, then the agent is killed and comes back. */
async function measureAdoption(bench: AgentBench, count: number, emptyStartMs: number) {
  const go = join(bench.root, 'go');
  const calls = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      bench.start(`while [ ! -e '${go}' ]; do sleep 5; done; echo end-${index}; exit ${index % 100}`),
    ),
  );
  const daemonMiB = readMemory(bench.agent.pid).residentMiB;
  const keepers = readKeeperMemory(join(bench.root, 'state'));
  await bench.agent.end('SIGKILL');
  const startMs = await bench.startAgent();
  writeFileSync(go, '');
  let kept = 0;
  for (const [index, call] of calls.entries()) {
    const answer = await bench.end(call);
    const text = Buffer.from(answer.view?.head ?? '', 'base64').toString();
    if (answer.exit?.code === index % 100 && text === `end-${index}\n`) kept += 1;
  }
  return { count, adoptedMs: startMs - emptyStartMs, startMs, kept, daemonMiB, ...keepers };
}

/** Proportional memory of the keepers and their readers: what is shared is counted once. */
function readKeeperMemory(state: string): { keepers: number; keeperMiB: number } {
  let kib = 0;
  let keepers = 0;
  for (const name of readdirSync('/proc')) {
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (!line.includes('/keeper-') || !line.includes(state)) continue;
      kib += Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${name}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
      keepers += 1;
    } catch {
      // Not a process, or gone in the meantime.
    }
  }
  // A keeper and its reader's shell both run the script.
  return { keepers, keeperMiB: kib / 1024 / Math.max(1, keepers / 2) };
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean' }, quick: { type: 'boolean' } } });
  const extent = values.quick === true ? QUICK : FULL;
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  const bench = new AgentBench();
  const interrupt = (): void => void bench.clear().finally(() => process.exit(130));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    say('building what is shipped');
    build();
    const emptyStartMs = await bench.startAgent();
    await bench.end(await bench.start('true'));
    const bursts: Record<string, Figure> = {};
    for (const count of extent.bursts) {
      say(`${count} starts at once`);
      bursts[count] = await measureBurst(bench, count, extent.rounds);
    }
    say('how soon an exit is seen');
    const exitSeen = await measureExitSeen(bench, extent.exits);
    say(`${extent.outputMb} MB of output`);
    const output = await measureOutput(bench, extent.outputMb, extent.rounds);
    say(`${extent.running} commands, a kill, and back`);
    const adoption = await measureAdoption(bench, extent.running, emptyStartMs);
    report({ emptyStartMs, bursts, exitSeen, output, adoption }, values.json === true);
  } finally {
    await bench.clear();
  }
}

interface Report {
  readonly emptyStartMs: number;
  readonly bursts: Readonly<Record<string, Figure>>;
  readonly exitSeen: Awaited<ReturnType<typeof measureExitSeen>>;
  readonly output: Awaited<ReturnType<typeof measureOutput>>;
  readonly adoption: Awaited<ReturnType<typeof measureAdoption>>;
}

function report(figures: Report, isJson: boolean): void {
  const { bursts, exitSeen, output, adoption } = figures;
  const lines = [
    ...Object.entries(bursts).map(
      ([count, { median: ms, p95 }]) =>
        `${count} starts at once, to the last exit: ${ms.toFixed(0)} ms (p95 ${p95.toFixed(0)}), ${(ms / Number(count)).toFixed(1)} ms each`,
    ),
    `an exit is seen ${exitSeen.p50Ms.toFixed(1)} ms after the shell's last act (p99 ${exitSeen.p99Ms.toFixed(1)}, ${exitSeen.count} exits)`,
    `output: ${output.agentMbPerS.toFixed(0)} MB/s against ${output.catMbPerS.toFixed(0)} by cat: ${output.ratioToCat.toFixed(2)} (aim ≥ 0.3); CPU of the agent ${output.agentCpuMsPerRound.toFixed(0)} ms`,
    `${adoption.count} commands after a kill: ${adoption.kept} results kept, start-up ${adoption.startMs.toFixed(0)} ms, ${adoption.adoptedMs.toFixed(0)} ms more than an empty one (aim 2000)`,
    `with ${adoption.count} running: agent ${adoption.daemonMiB.toFixed(0)} MiB (aim < 150), ${adoption.keeperMiB.toFixed(1)} MiB a keeper with its reader (aim < 4)`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (isJson) process.stdout.write(`${JSON.stringify(figures)}\n`);
}

await main();
