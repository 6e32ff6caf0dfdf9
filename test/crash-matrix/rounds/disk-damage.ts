/** Damage that is no death: a journal that forgot a key, and a pid that somebody else has by now. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { waitUntil } from '../../fixtures/wait-until.ts';
import { ask, awaitDecision, probe, start } from '../ask.ts';
import { attemptFolder, noteEvidence, readJournal } from '../disk-evidence.ts';
import { killByPid, listLaneProcesses } from '../lane-processes.ts';
import type { Round, RoundPlan } from './round.ts';

/** A worker that has seen the key run asks with `mustExist`: it is never run again, whatever the journal forgot. */
export const rowDeleted: RoundPlan = {
  name: 'disk/row-deleted',
  run: async ({ lane, tally }) => {
    const key = lane.newKey(await lane.target());
    await start(lane, key);
    await awaitDecision(lane, key);
    await lane.killAgent();
    tally.killed();
    tally.reached('disk/row-deleted');
    key.died('agent, and its row', 'row-deleted');
    const database = new DatabaseSync(join(lane.state, 'journal.db'));
    database.exec(`DELETE FROM attempts WHERE call_id = (SELECT id FROM calls WHERE key = '${key.key}')`);
    database.exec(`DELETE FROM calls WHERE key = '${key.key}'`);
    database.close();
    noteEvidence(lane, [key]);
    await lane.requireAgent();
    const asked = await start(lane, key, { mustExist: true, waitMs: 10_000 });
    if (asked.state !== 'absent') tally.violations.push(`${key.key} has no row, and mustExist answers ${asked.state}`);
    const again = await start(lane, key, { waitMs: 10_000 });
    if (again.state !== 'canceled') tally.violations.push(`${key.key} was absent, and a start answers ${again.state}`);
    await awaitDecision(lane, key);
    const runs = lane.countRuns(key);
    if (runs !== 1) tally.violations.push(`${key.key} lost its row and ran ${runs} times`);
    key.settled = { state: 'fenced', code: undefined, runs };
    const { who, where, onDisk } = key;
    const kept = 'unknown; fenced for good';
    tally.observations.push({ who, where, onDisk, said: asked.state, runs, kept, isUnknown: true });
  },
};

/** Keeper and command are dead and a stranger has the command's pid: the key is lost, the stranger is left alone (A2). */
export const pidReused: RoundPlan = { name: 'disk/pid-reused', run: runPidReused };

async function runPidReused(round: Round): Promise<void> {
  const { lane, tally } = round;
  const key = lane.newKey(await lane.target(), { sleepSeconds: 120 });
  await start(lane, key, { waitMs: 10_000 });
  await waitUntil('the command has begun', () => lane.countRuns(key) === 1);
  const row = readJournal(lane).get(key.key);
  if (row === undefined) throw new Error(`${key.key} has no row`);
  const folder = attemptFolder(lane, row);
  await lane.killAgent();
  for (const { pid, session, commandLine, environment } of listLaneProcesses(lane.root)) {
    const isOfKey = commandLine.includes(`${folder} `) || environment.includes(`/p${row.id}\0`) || session === pid;
    if (isOfKey && killByPid(pid)) tally.killed();
  }
  tally.killed();
  tally.reached('disk/pid-reused');
  key.died('agent, keeper, command', 'pid-reused');
  key.isDaemonOnly = false;
  const bystander = spawn('sleep', ['120'], { stdio: 'ignore', detached: true });
  try {
    const started = readFileSync(join(folder, 'started'), 'latin1');
    writeFileSync(join(folder, 'started'), started.replace(/^\d+/, String(bystander.pid)));
    noteEvidence(lane, [key]);
    await lane.requireAgent();
    const said = await probe(lane, key);
    await ask(() => lane.client.cancel({ ...key.addressed(), mode: 'kill', graceMs: 0, waitMs: 2000 }));
    if (said.state !== 'lost') tally.violations.push(`${key.key} is called ${said.state}; a stranger has its pid`);
    if (bystander.signalCode !== null) tally.violations.push(`a stranger with the pid of ${key.key} was killed`);
    const runs = lane.countRuns(key);
    key.settled = { state: said.state, code: undefined, runs };
    const { who, where, onDisk } = key;
    const kept = 'unknown; the output so far';
    tally.observations.push({ who, where, onDisk, said: said.state, runs, kept, isUnknown: true });
  } finally {
    bystander.kill('SIGKILL');
  }
}
