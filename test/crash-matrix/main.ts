/** `npm run crash-matrix [-- --quick --seed N --json]`: see USAGE. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format } from 'prettier';
import { summarize, tableOf, toDocument, toText } from './report.ts';
import { Sweep } from './sweep.ts';

const USAGE = `Usage: npm run crash-matrix -- [options]

Kills daemon, keeper, reader, both and "the machine" at every named point, restarts, and checks that no key ran twice.
Writes docs/crash-matrix.md. The exit code is 1 when an invariant was violated, and when the
run could not be done: then the last line says "brokenOff" and why, and no document is written.

  --quick      some minutes: every point several times, at least 200 kills (default: ten times each, 200 random ones)
  --short      under a minute: every point at least once; writes no document
  --seed N     repeats the choices of a run
  --only A,B   rounds of these names only, as the progress lines name them; writes no document
  --json       observations and violations as JSON lines
`;

/** Seeds are short enough to type. */
const SEEDS = 1_000_000;
const DOCUMENT = join(import.meta.dirname, '../../docs/crash-matrix.md');

const values = readFlags();

if (values.help) process.stdout.write(USAGE);
else process.exitCode = await main();

function readFlags() {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        short: { type: 'boolean', default: false },
        seed: { type: 'string' },
        only: { type: 'string' },
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
  if (!Number.isSafeInteger(seed) || seed < 0) {
    process.stderr.write(`crash-matrix: --seed wants a whole number, not "${values.seed}"\n`);
    return 2;
  }
  const size = values.short ? 'short' : values.quick ? 'quick' : 'full';
  const began = performance.now();
  const sweep = new Sweep({
    size,
    seed,
    only: values.only?.split(','),
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  process.stderr.write(`crash matrix, ${size}, seed ${seed}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      sweep.dispose();
      printBrokenOff(sweep, `ended by ${signal}`);
      process.exit(130);
    });
  }
  try {
    await sweep.run();
    const { missedPoints } = sweep.tally;
    if (values.only === undefined && missedPoints.length > 0)
      throw new Error(`nobody died at ${missedPoints.join(', ')}: this run proves nothing about them`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`crash-matrix: ${reason}\n`);
    printBrokenOff(sweep, reason);
    return 1;
  }
  if (size !== 'short' && values.only === undefined) {
    const command = `npm run crash-matrix --${values.quick ? ' --quick' : ''} --seed ${seed}`;
    const seconds = Math.round((performance.now() - began) / 1000);
    const text = toDocument(sweep.tally, { command, seed, seconds, keys: sweep.keyCount });
    writeFileSync(DOCUMENT, await format(text, { parser: 'markdown', printWidth: 120 }));
  }
  print(sweep);
  return sweep.tally.violations.length === 0 ? 0 : 1;
}

/** What was seen, then the violations, then the summary as the last line. */
function print(sweep: Sweep): void {
  printSeen(sweep);
  process.stdout.write(`${JSON.stringify(summarize(sweep.tally, sweep.keyCount))}\n`);
}

/** No summary: "violations":0 of a run that was not done would be read as success. Those that were found do count. */
function printBrokenOff(sweep: Sweep, reason: string): void {
  printSeen(sweep);
  const { kills, violations } = sweep.tally;
  const found = violations.length > 0 ? { violations: violations.length } : {};
  process.stdout.write(`${JSON.stringify({ brokenOff: reason, kills, keys: sweep.keyCount, ...found })}\n`);
}

function printSeen({ tally }: Sweep): void {
  const lines = values.json
    ? [...tally.observations, ...tally.violations.map((violation) => ({ violation }))].map((line) =>
        JSON.stringify(line),
      )
    : [toText(tableOf(tally.observations)), ...tally.violations.map((violation) => `VIOLATION ${violation}`)];
  process.stdout.write(`${lines.join('\n')}\n`);
}
