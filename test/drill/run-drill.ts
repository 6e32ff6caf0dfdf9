/** The drill's order: everything up, then broken, then looked at, then settled step by step, then nothing left. */
import type { CollectedCalls } from '../../client/calls/collect-calls.ts';
import { describeFailure } from '../../client/describe-failure.ts';
import { waitUntil } from '../fixtures/wait-until.ts';
import { BrokenSystem } from './broken-system.ts';
import type { HeldCall, Place } from './broken-system.ts';
import { KINDS } from './kinds.ts';
import type { Kind } from './kinds.ts';

/** Until all eight are named in one look. */
const NAMED_MS_MAX = 90_000;
const SETTLED_MS_MAX = 60_000;

export interface DrillLine {
  readonly kind: string;
  readonly made: string;
  /** What `calls --stuck` said last of it. */
  readonly shown: string;
  readonly step: string;
  readonly result: string;
  readonly isNamed: boolean;
  readonly isSettled: boolean;
}

export interface DrillReport {
  readonly lines: readonly DrillLine[];
  readonly violations: readonly string[];
}

interface Case {
  readonly kind: Kind;
  call?: HeldCall;
  shown?: { readonly code: string; readonly text: string };
  isNamed: boolean;
  result: string;
  isSettled: boolean;
}

export async function runDrill(options: {
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal;
}): Promise<DrillReport> {
  const { say, signal } = options;
  const cases = KINDS.map((kind): Case => ({ kind, isNamed: false, result: '', isSettled: false }));
  const violations: string[] = [];
  const system = await BrokenSystem.open();
  try {
    signal?.throwIfAborted();
    await play(system, cases, options);
    for (const { kind, call } of cases) {
      if (call?.countRuns() !== 1) violations.push(`${kind.code}: its command ran ${call?.countRuns() ?? 0} times`);
    }
  } catch (error) {
    violations.push(describeFailure(error));
  } finally {
    say('ending what was started');
    violations.push(...(await system.close()).map((line) => `left behind: ${line}`));
  }
  const lines = cases.map(({ kind, shown, isNamed, result, isSettled }) => {
    const { code, made, step } = kind;
    return { kind: code, made, shown: shown?.text ?? 'nothing', step, result, isNamed, isSettled };
  });
  return { lines, violations };
}

async function play(
  system: BrokenSystem,
  cases: readonly Case[],
  { say, signal }: { readonly say: (line: string) => void; readonly signal?: AbortSignal },
): Promise<void> {
  say('starting six agents with their workers');
  const [first, second, third, fourth, fifth, sixth] = await openPlaces(system);
  const placeOf: Record<string, Place> = {
    // Two each, where what is broken for one leaves the other as it is.
    past_budget: first,
    paused: first,
    agent_unreachable: second,
    cancel_requested: second,
    heartbeat_overdue: third,
    attempts_rising: fourth,
    no_worker: fifth,
    agent_retired: sixth,
  };
  const hold = async (each: Case): Promise<void> => {
    const { code, timeoutSeconds } = each.kind;
    const place = placeOf[code];
    if (place === undefined) throw new Error(`no place for ${code}`);
    each.call = await system.hold(place, code, timeoutSeconds);
  };
  const make = async (each: Case): Promise<void> => {
    signal?.throwIfAborted();
    say(`${each.kind.code}: ${each.kind.made}`);
    if (each.call !== undefined) await each.kind.make(system, each.call);
  };
  const early = cases.filter(({ kind }) => kind.isLate !== true);
  await Promise.all(early.map(hold));
  // The killed worker first, since it is believed to be gone only after a while.
  for (const each of early.toSorted((left, right) => order(left) - order(right))) await make(each);
  await nameAll(system, early);
  for (const each of cases.filter(({ kind }) => kind.isLate === true)) {
    await hold(each);
    await make(each);
  }
  say('looking: latchkey calls --stuck --json');
  await nameAll(system, cases);
  for (const each of cases) {
    signal?.throwIfAborted();
    say(`${each.kind.code}: ${each.shown?.text}`);
    await settle(system, each);
    say(`${each.kind.code}: ${each.kind.step} → ${each.result}`);
  }
  await waitUntil('nothing is stuck any more', async () => (await look(system)).calls.length === 0, {
    deadlineMs: SETTLED_MS_MAX,
  });
}

function order({ kind }: Case): number {
  // An interrupt needs its worker's answer before the agent that it shares is killed.
  return ['no_worker', 'attempts_rising', 'cancel_requested', 'agent_retired', 'agent_unreachable', 'paused'].indexOf(
    kind.code,
  );
}

async function openPlaces(system: BrokenSystem): Promise<[Place, Place, Place, Place, Place, Place]> {
  return Promise.all([
    system.openPlace(),
    system.openPlace(),
    system.openPlace(),
    system.openPlace(),
    system.openPlace(),
    system.openPlace(),
  ]);
}

async function look(system: BrokenSystem): Promise<CollectedCalls> {
  const { output, errors } = await system.latchkey('calls', '--stuck', '--json');
  try {
    return JSON.parse(output) as CollectedCalls;
  } catch {
    throw new Error(`latchkey calls --stuck --json did not answer: ${errors}`);
  }
}

/** All of them rightly in one look: a name that only passes by is no help to an operator. */
async function nameAll(system: BrokenSystem, cases: readonly Case[]): Promise<void> {
  const isAll = async (): Promise<boolean> => {
    const { calls } = await look(system);
    for (const each of cases) {
      const stuck = calls.find(({ chatId }) => chatId === each.call?.chatId)?.stuck;
      each.isNamed = stuck?.code === each.kind.code;
      if (stuck !== undefined) each.shown = stuck;
    }
    return cases.every(({ isNamed }) => isNamed);
  };
  await waitUntil('each cause is named', isAll, {
    deadlineMs: NAMED_MS_MAX,
    describe: () => cases.map(({ kind, isNamed, shown }) => ({ code: kind.code, isNamed, shown })),
  });
}

async function settle(system: BrokenSystem, each: Case): Promise<void> {
  const { kind, call } = each;
  if (call === undefined) return;
  await kind.settle(system, call);
  const end = async (): Promise<string> => {
    const { status, exitCode, evidence } = await call.row();
    return `${status}${exitCode === undefined ? '' : ` ${exitCode}`} by ${evidence?.code ?? 'nobody'}`;
  };
  const isSettled = async (): Promise<boolean> => {
    each.result = await end();
    return each.result === kind.end;
  };
  await waitUntil(`${kind.code} is settled`, isSettled, { deadlineMs: SETTLED_MS_MAX, describe: () => each.result });
  each.isSettled = true;
}
