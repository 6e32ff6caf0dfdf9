/** Anybody dies at any moment while keys start, run and end. */
import { setTimeout as delay } from 'node:timers/promises';
import { noteEvidence, readJournal } from '../disk-evidence.ts';
import { killByPid, listLaneProcesses } from '../lane-processes.ts';
import type { LaneProcess } from '../lane-processes.ts';
import type { MatrixKey } from '../matrix-key.ts';
import { startAll, verifyAll } from './round.ts';
import type { Round, RoundPlan } from './round.ts';

const KEYS = 5;
/** A start takes some 15 ms, a command of the matrix some 10 more, so most deaths meet something. */
const DEATH_AFTER_MS_MAX = 250;

const VICTIMS = ['agent', 'keeper', 'reader', 'agent and keeper', 'machine'] as const;

export const randomDeaths: RoundPlan = { name: 'random', run };

async function run(round: Round): Promise<void> {
  const { lane, tally, random } = round;
  const target = await lane.target();
  const keys = Array.from({ length: KEYS }, () =>
    lane.newKey(target, { sleepSeconds: random.chance(0.5) ? random.between(1, 300) / 1000 : undefined }),
  );
  const victim = random.pick(VICTIMS);
  const starting = startAll(lane, keys);
  // Not a wait for anything: the moment of death is the seed's choice.
  await delay(random.between(0, DEATH_AFTER_MS_MAX));
  if (victim === 'machine') {
    await lane.killMachine();
    tally.killed();
    for (const key of keys) spoil(key);
  } else {
    if (victim.startsWith('agent')) {
      await lane.killAgent();
      tally.killed();
      for (const key of keys) key.died('agent', 'random');
    }
    if (victim !== 'agent') killOne(round, keys, victim === 'reader' ? 'reader' : 'keeper');
  }
  await starting;
  noteEvidence(lane, keys);
  if (lane.isAgentDead) await lane.requireAgent();
  await verifyAll(round, keys);
}

/** Any of the keepers that are there, or its reader; nobody when there is none yet. */
function killOne({ lane, tally, random }: Round, keys: readonly MatrixKey[], what: 'keeper' | 'reader'): void {
  const processes = listLaneProcesses(lane.root);
  const isKeeper = ({ pid, session, commandLine }: LaneProcess): boolean =>
    pid === session && /\/commands\/\d+\.1 /.test(commandLine);
  const candidates = processes.filter(isKeeper).flatMap((keeper) => {
    const head = processes.find(({ session, name }) => session === keeper.pid && name === 'head');
    const pid = what === 'keeper' ? keeper.pid : head?.parent;
    return pid === undefined || (what === 'reader' && pid === keeper.pid) ? [] : [{ pid, keeper }];
  });
  if (candidates.length === 0) return;
  const { pid, keeper } = random.pick(candidates);
  const callId = Number(/\/commands\/(\d+)\.1 /.exec(keeper.commandLine)?.[1]);
  const journal = readJournal(lane);
  const key = keys.find((candidate) => journal.get(candidate.key)?.id === callId);
  if (key === undefined || !killByPid(pid)) return;
  tally.killed();
  key.died(what, 'random');
  key.isDaemonOnly = false;
  key.isReaderKilled = what === 'reader';
}

/** After a death of the machine neither a result nor all of the output is owed. */
function spoil(key: MatrixKey): void {
  key.died('machine', 'random');
  key.isDaemonOnly = false;
  key.isReaderKilled = true;
}
