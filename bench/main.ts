/** `npm run bench`: what a call costs, each figure beside a yardstick of the same run. */
import { parseArgs } from 'node:util';
import { describeFailure } from '../client/describe-failure.ts';
import { toRatios } from './aims.ts';
import { describeMachine } from './machine.ts';
import { FULL, measure, QUICK } from './measure.ts';
import { describeFigures, describeRatios } from './report.ts';
import { build, openStage } from './stage.ts';

const USAGE = `Usage: npm run bench [-- --json] [-- --quick]

Builds, starts a Temporal dev server (or uses TEMPORAL_ADDRESS), an agent and workers, and measures what a call costs.
Takes some five minutes, and means something only on a machine that does nothing else.

  --quick   a few of each measurement, in less than two minutes: shows that it works, not how fast
  --json    the report on standard error, one line of JSON on standard output

Example: npm run --silent bench -- --json | tail -n 1 | jq .ratios
`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const print = (line: string): void => void (values.json ? process.stderr : process.stdout).write(`${line}\n`);
  const say = (line: string): void => void process.stderr.write(`· ${line}\n`);
  const cleanUp: (() => Promise<void>)[] = [];
  const interrupted = Promise.withResolvers<number>();
  const onSignal = (): void => interrupted.resolve(130);
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    return await Promise.race([run({ ...values, cleanUp, print, say }), interrupted.promise]);
  } finally {
    for (const end of cleanUp.toReversed()) await end().catch((error: unknown) => say(describeFailure(error)));
  }
}

async function run(options: {
  readonly json: boolean;
  readonly quick: boolean;
  readonly cleanUp: (() => Promise<void>)[];
  readonly print: (line: string) => void;
  readonly say: (line: string) => void;
}): Promise<number> {
  const { print, say } = options;
  say('building what is shipped');
  build();
  const machine = describeMachine();
  const stage = await openStage(options.cleanUp, say);
  const figures = await measure(stage, options.quick ? QUICK : FULL, say);
  const ratios = toRatios(figures);
  const { cores, model, memoryGiB, loadBefore } = machine;
  print(
    `Node ${process.version}, ${cores} × ${model}, ${memoryGiB} GiB, load ${loadBefore} before; ${stage.server.source}`,
  );
  if (options.quick) print('Quick: too few samples to be trusted.');
  for (const line of ['', ...describeFigures(figures), '', 'Aims', ...describeRatios(ratios)]) print(line);
  if (options.json) process.stdout.write(`${JSON.stringify({ ratios, figures, machine, isQuick: options.quick })}\n`);
  return 0;
}

try {
  // Ended here, since an interrupted run leaves its work behind.
  process.exit(await main());
} catch (error) {
  process.stderr.write(`bench: ${describeFailure(error)}\n`);
  process.exit(1);
}
