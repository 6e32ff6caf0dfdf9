/** `npm run crash-matrix [-- --quick --seed N --json]`: see USAGE. */
import { parseArgs } from 'node:util';
import type { Half, HalfRequest } from './half.ts';

const USAGE = `Usage: npm run crash-matrix -- [options]

The agent's half kills daemon, keeper, reader, both and "the machine" at every named point and restarts; the Temporal
half kills, stops and freezes workers, agent and server under running turns, and cuts their lines. Both check that no
key ran twice. Writes docs/crash-matrix.md and docs/fault-matrix.md. The last line is JSON, the Temporal half's in its
member "temporal". The exit code is 1 when an invariant was violated, and when a half could not be done: then it says
"brokenOff" and why in place of its summary, and writes no document.

  --quick      some minutes: every point several times, at least 200 and 50 kills (default: more of all)
  --short      a minute or two: every point at least once; writes no document
  --seed N     repeats the choices of a run
  --only A,B   "agent" or "temporal": that half; else rounds of these names, as the progress lines name them (those of
               the Temporal half begin with "temporal/"); rounds write no document
  --minutes N  the Temporal half goes on for so long
  --json       observations and violations as JSON lines
`;

/** Seeds are short enough to type. */
const SEEDS = 1_000_000;
const TEMPORAL_ROUND = 'temporal/';

const values = readFlags();

if (values.help) process.stdout.write(USAGE);
// Ended here: what was interrupted or went wrong may have left a connection open.
else process.exit(await main());

function readFlags() {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        short: { type: 'boolean', default: false },
        seed: { type: 'string' },
        only: { type: 'string' },
        minutes: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`crash-matrix: ${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function main(): Promise<number> {
  const seed = values.seed === undefined ? Math.floor(Math.random() * SEEDS) : Number(values.seed);
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (!Number.isSafeInteger(seed) || seed < 0) return refuse(`--seed wants a whole number, not "${values.seed}"`);
  if (minutes !== undefined && !(minutes > 0)) return refuse(`--minutes wants a number, not "${values.minutes}"`);
  const size = values.short ? 'short' : values.quick ? 'quick' : 'full';
  process.stderr.write(`crash matrix, ${size}, seed ${seed}\n`);
  const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
  const halves = await openHalves({ size, seed, minutes, isJson: values.json, onProgress });
  const reasons = new Map<Half, string>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      for (const half of halves) {
        half.dispose();
        if (!done.has(half)) reasons.set(half, `ended by ${signal}`);
      }
      print(halves, reasons);
      process.exit(130);
    });
  }
  const done = new Set<Half>();
  for (const half of halves) {
    try {
      await half.run();
    } catch (error) {
      // What could not be done proves nothing, also where the other half is green.
      reasons.set(half, error instanceof Error ? error.message : String(error));
      process.stderr.write(`crash-matrix: ${reasons.get(half)}\n`);
    }
    done.add(half);
  }
  print(halves, reasons);
  return reasons.size === 0 && halves.every((half) => half.violations() === 0) ? 0 : 1;
}

/** The Temporal half is loaded only where it is wanted: it brings the SDK along. */
async function openHalves(request: Omit<HalfRequest, 'rounds'>): Promise<Half[]> {
  const words = values.only?.split(',');
  const isWanted = (half: string): boolean => words === undefined || words.includes(half);
  const rounds = words?.filter((word) => word !== 'agent' && word !== 'temporal') ?? [];
  const temporal = rounds
    .filter((word) => word.startsWith(TEMPORAL_ROUND))
    .map((word) => word.slice(TEMPORAL_ROUND.length));
  const agent = rounds.filter((word) => !word.startsWith(TEMPORAL_ROUND));
  const halves: Half[] = [];
  if (isWanted('agent') || agent.length > 0) {
    const { openAgentHalf } = await import('./agent-half.ts');
    halves.push(openAgentHalf({ ...request, rounds: isWanted('agent') ? undefined : agent }));
  }
  if (isWanted('temporal') || temporal.length > 0) {
    const { openTemporalHalf } = await import('../fault-matrix/temporal-half.ts');
    halves.push(openTemporalHalf({ ...request, rounds: isWanted('temporal') ? undefined : temporal }));
  }
  return halves;
}

/**
 * What was seen, then the violations, then the summary as the last line. None of what was broken off: "violations":0 of
 * a run that was not done would be read as success.
 */
function print(halves: readonly Half[], reasons: ReadonlyMap<Half, string>): void {
  const lines = halves.flatMap((half) => half.lines());
  const members = halves.map((half) => {
    const reason = reasons.get(half);
    return reason === undefined ? half.summary() : half.brokenOff(reason);
  });
  process.stdout.write(`${[...lines, JSON.stringify(Object.assign({}, ...members))].join('\n')}\n`);
}

function refuse(reason: string): number {
  process.stderr.write(`crash-matrix: ${reason}\n`);
  return 2;
}
