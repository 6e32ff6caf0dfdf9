/** The danger: tests that would be green without the safeguards. Each is taken out of a copy, and the matrix goes red. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createAgentClient } from '../../../agent-client/agent-client.ts';
import { startRequest } from '../../fixtures/agent-process.ts';
import type { Mutation } from '../../fixtures/mutant.ts';
import { makeMutant, runMatrix } from '../../fixtures/mutant.ts';
import { killMarked } from '../../fixtures/processes.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

const TIMEOUT_MS = 180_000;

interface Safeguard {
  readonly name: string;
  readonly mutation: Mutation;
  /** Those of the matrix that show it. */
  readonly rounds: readonly string[];
  /** What it says then: red for this reason, and not for another one. */
  readonly violation: RegExp;
}

const SAFEGUARDS: readonly Safeguard[] = [
  {
    name: "the keeper's exclusive claim",
    mutation: { file: 'agent/keeper/keeper.sh', from: 'set -C\n', to: '' },
    rounds: ['agent-dies-keepers-wait'],
    violation: /its late keeper went on: [12] runs/,
  },
  {
    name: "the daemon's claim",
    mutation: {
      file: 'agent/keeper/settle.ts',
      from: "claim.by === 'nobody' && claimForDaemon(folder) === 'won'",
      to: "claim.by === 'nobody'",
    },
    rounds: ['agent-dies-keepers-wait'],
    violation: /its late keeper went on: [12] runs/,
  },
  {
    name: 'the fence of a void key',
    mutation: {
      file: 'agent/journal/call-rows.ts',
      from: "SET state = 'fenced', reason = ? WHERE id = ? AND state = 'void'",
      to: "SET state = 'void', reason = ? WHERE id = ? AND state = 'void'",
    },
    rounds: ['agent/after-reserve', 'agent/folder-written'],
    violation: /answers void to a fence/,
  },
  {
    name: 'the fence of a pending key',
    mutation: {
      file: 'agent/commands/supervisor.ts',
      from: "row.isFenceRequested ? 'fenced' : 'void'",
      to: "'void'",
    },
    rounds: ['agent/before-fence-claim'],
    violation: /although its fence was durable/,
  },
  {
    name: 'the nonce',
    mutation: { file: 'agent/verbs/verb-context.ts', from: 'if (row.nonce === nonce) return;', to: 'return;' },
    rounds: ['agent/before-answer'],
    violation: /tells a stranger/,
  },
  {
    name: 'the start time in the identity check',
    mutation: {
      file: 'agent/process/identity.ts',
      from: 'left.pid === right.pid && left.startTimeTicks === right.startTimeTicks',
      to: 'left.pid === right.pid',
    },
    rounds: ['disk/pid-reused'],
    violation: /a stranger with the pid of .* was killed/,
  },
  {
    name: 'the `mustExist` rule',
    mutation: {
      file: 'agent/verbs/start.ts',
      from: "if (request.mustExist === true) {\n    insert('fenced'",
      to: "if (request.protocol === undefined) {\n    insert('fenced'",
    },
    rounds: ['disk/row-deleted'],
    violation: /lost its row and ran 2 times/,
  },
];

// What it shows, the short form of the matrix shows in each run.
test.skipIf(process.env['LATCHKEY_LONG'] === undefined)(
  'I14 part: with every safeguard in, those rounds of the crash matrix are green',
  () => {
    const rounds = new Set(SAFEGUARDS.flatMap((safeguard) => safeguard.rounds));
    const { violations, log } = runMatrix(makeMutant(), [...rounds]);
    expect(violations, log).toBe(0);
  },
  TIMEOUT_MS,
);

for (const { name, mutation, rounds, violation } of SAFEGUARDS) {
  test(
    `I14 part: without ${name} the crash matrix goes red`,
    () => {
      const { violations, log } = runMatrix(makeMutant(mutation), rounds);
      expect(violations, log).toBeGreaterThan(0);
      expect(log).toMatch(violation);
    },
    TIMEOUT_MS,
  );
}

/** Kills can't show an fsync, since the page cache survives them; a trace of the system calls can. */
const hasTracer = spawnSync('strace', ['-f', 'true']).status === 0;

/** Whether the journal was synced after the first keeper's exec and before the second's. */
async function isSyncedBeforeExec(copy: string): Promise<boolean> {
  const [workspace, state, trace] = ['workspace', 'state', 'trace'].map((name) => join(copy, name));
  if (workspace === undefined || state === undefined || trace === undefined) throw new Error('three names');
  mkdirSync(workspace);
  const tracer = ['-f', '-y', '-s', '256', '-e', 'trace=execve,fsync,fdatasync', '-o', trace];
  const main = [join(copy, 'agent/main.ts'), '--workspace', workspace, '--state', state];
  const child = spawn('strace', [...tracer, process.execPath, ...main], {
    env: { ...process.env, XDG_RUNTIME_DIR: copy },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const client = createAgentClient({ address: `unix:${join(state, 'agent.sock')}`, answerMarginMs: 60_000 });
  let log = '';
  child.stdout.on('data', (text: Buffer) => (log += text.toString()));
  onTestFinished(async () => {
    await client.close();
    killMarked(copy);
    await waitUntil('the tracer has ended', () => child.exitCode !== null || child.signalCode !== null);
  });
  await waitUntil('the agent is ready', () => log.includes('is ready'), { deadlineMs: 60_000, describe: () => log });
  const target = await client.info({});
  const addressed = {
    agentId: target.agentId,
    journalId: target.journalId,
    incarnation: target.incarnation,
    sequence: 0,
  };
  // The first one runs on, so that the only commit between the two is the reserve of the second.
  await client.start(startRequest(addressed, '1-call', 'sleep 60', { waitMs: 30_000 }));
  await client.start(startRequest(addressed, '2-call', 'sleep 60', { waitMs: 30_000 }));
  return waitUntil('both keepers are in the trace', () => {
    const lines = readFileSync(trace, 'utf8').split('\n');
    const [first, second] = ['1.1', '2.1'].map((name) =>
      lines.findIndex((line) => line.includes('execve(') && line.includes(`/commands/${name}"`)),
    );
    if (first === undefined || second === undefined || first === -1 || second === -1) return undefined;
    const between = lines.slice(first, second);
    return { isSynced: between.some((line) => /f(data)?sync\(\d+<[^>]*journal\.db-wal>/.test(line)) };
  }).then(({ isSynced }) => isSynced);
}

test.skipIf(!hasTracer)(
  'I14 part, K3: the journal is synced before a keeper is executed (skipped where there is no strace)',
  async () => {
    expect(await isSyncedBeforeExec(makeMutant())).toBe(true);
  },
  TIMEOUT_MS,
);

test.skipIf(!hasTracer)(
  'I14 part: without the fsync of the reserve the trace shows none (skipped where there is no strace)',
  async () => {
    const mutation = { file: 'agent/journal/journal.ts', from: 'synchronous = FULL', to: 'synchronous = NORMAL' };
    expect(await isSyncedBeforeExec(makeMutant(mutation))).toBe(false);
  },
  TIMEOUT_MS,
);
