/** `npm run conversations [-- --count N --seed S --json --minutes N]`: see USAGE. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ConversationSweep } from './conversation-sweep.ts';

const COUNT = 20;
const SIDE_BY_SIDE = 12;
/** Seeds are short enough to type. */
const SEEDS = 1_000_000;

const USAGE = `Usage: npm run conversations -- [options]

Random conversations (sends, edits, interrupts, changes of the queue) side by side, while workers, agent and server are
killed at random, against a provider that refuses what strict ones refuse. Afterwards nothing may dangle, be doubled or
out of order, no command may have run twice, and store, stream and provider must agree.

The last line is JSON: {"conversations":n,"kills":n,"violations":0}. The exit code is 1 when something was violated, or
could not be done: then it says "brokenOff" and why.

  --count N         so many conversations (default ${COUNT})
  --minutes N       begins no more after so much time
  --seed S          repeats the choices of a run (not the machine's timing)
  --only A,B        only the conversations of these numbers
  --side-by-side N  default ${SIDE_BY_SIDE}
  --store NAME      "sqlite" (default), or "postgres": a server of its own, which dies too
  --short           less is done in each, as in npm test
  --json            violations as JSON lines, with what was done and every event
`;

const { values } = parseArgs({
  options: {
    count: { type: 'string' },
    minutes: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    'side-by-side': { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
// Ended here: what was interrupted or went wrong may have left a connection open.
else process.exit(await main());

async function main(): Promise<number> {
  const { store } = values;
  // The killed are started again and again: a kept compilation halves what a start costs. The name is Node's default.
  process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'node-compile-cache');
  if (store !== 'sqlite' && store !== 'postgres') return refuse(`--store is "sqlite" or "postgres", not "${store}"`);
  const seed = readNumber('seed', values.seed) ?? Math.floor(Math.random() * SEEDS);
  const sweep = new ConversationSweep({
    seed,
    // With a time alone the time says how many.
    count: readNumber('count', values.count) ?? (values.minutes === undefined ? COUNT : SEEDS),
    minutes: readNumber('minutes', values.minutes),
    only: values.only?.split(',').map(Number),
    sideBySide: readNumber('side-by-side', values['side-by-side']) ?? SIDE_BY_SIDE,
    store,
    size: values.short ? 'short' : 'full',
    onProgress: (line) => void process.stderr.write(`${line}\n`),
  });
  process.stderr.write(`conversations, seed ${seed}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      sweep.dispose();
      print(sweep, `ended by ${signal}`);
      process.exit(130);
    });
  }
  let reason: string | undefined;
  try {
    await sweep.run();
  } catch (error) {
    reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`conversations: ${reason}\n`);
  }
  print(sweep, reason);
  return reason === undefined && sweep.violations.length === 0 ? 0 : 1;
}

function print({ violations, conversations, kills }: ConversationSweep, reason: string | undefined): void {
  for (const violation of violations) {
    const { seed, conversation, checker, text } = violation;
    const line = `VIOLATION seed ${seed}, conversation ${conversation}: ${checker}: ${text}`;
    process.stdout.write(`${values.json ? JSON.stringify(violation) : line}\n`);
  }
  const found = { conversations, kills, violations: violations.length };
  process.stdout.write(`${JSON.stringify(reason === undefined ? found : { brokenOff: reason, ...found })}\n`);
}

function readNumber(flag: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (Number.isFinite(number) && number >= 0) return number;
  process.exit(refuse(`--${flag} wants a number, not "${given}"`));
}

function refuse(reason: string): number {
  process.stderr.write(`conversations: ${reason}\n\n${USAGE}`);
  return 2;
}
