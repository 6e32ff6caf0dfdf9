/** `npm run rolling-restart [-- --quick --json]`: see USAGE. */
import { parseArgs } from 'node:util';
import { RollingRestartDrill } from './rolling-restart.ts';

const USAGE = `Usage: npm run rolling-restart [-- options]

20 turns with commands of 10 to 60 s on a system of its own, while every worker is replaced three times: a fresh one
comes up, the old one gets SIGTERM. Takes about three minutes. The last line is JSON. Exit code: 1 when a command ran
twice, a result was lost, a turn ended in error, or a deploy cost an attempt of a model call.

  --quick      commands of a tenth of that, one worker of each kind: half a minute
  --scale X    commands take 10 to 60 s times this (default 1)
  --turns N    side by side (default 20)
  --seed N     repeats the choices of a run
`;

const SEEDS = 1_000_000;
const QUICK_SCALE = 0.1;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      scale: { type: 'string' },
      turns: { type: 'string', default: '20' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * SEEDS)) },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const scale = Number(values.scale ?? (values.quick ? QUICK_SCALE : 1));
  const [turns, seed] = [Number(values.turns), Number(values.seed)];
  if (!(scale > 0) || !(turns >= 1) || !Number.isSafeInteger(seed)) {
    process.stderr.write(`rolling-restart: --scale, --turns and --seed want numbers\n\n${USAGE}`);
    return 2;
  }
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  say(`rolling restart, ${turns} turns, seed ${seed}`);
  const drill = new RollingRestartDrill({ turns, workers: values.quick ? 1 : 2, scale, seed, onProgress: say });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      drill.dispose();
      process.exit(130);
    });
  }
  const { summary, violations } = await drill.run();
  for (const { checker, text } of violations) say(`VIOLATION ${checker}: ${text}`);
  process.stdout.write(`${JSON.stringify(summary)}\n`);
  return summary.violations === 0 && summary.turnsInError === 0 && summary.attemptsSpent === 0 ? 0 : 1;
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`rolling-restart: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
