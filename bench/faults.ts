/** `npm run bench:faults [-- --json] [-- --quick]`: how long a re-attach and an interrupt take while many commands run. */
import { parseArgs } from 'node:util';
import { describeFailure } from '../client/describe-failure.ts';
import { describeMachine } from './machine.ts';
import { build, openStage } from './stage.ts';
import { measureUnderLoad } from './under-load.ts';
import type { Load } from './under-load.ts';

const FULL: Load = { calls: 40, rounds: 3, interrupts: 30 };
const QUICK: Load = { calls: 20, rounds: 1, interrupts: 5 };

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean' }, quick: { type: 'boolean' } } });
  const say = (line: string): void => void process.stderr.write(`· ${line}\n`);
  const cleanUp: (() => Promise<void>)[] = [];
  const interrupted = Promise.withResolvers<never>();
  const onSignal = (): void => interrupted.reject(new Error('interrupted'));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    say('building what is shipped');
    build();
    const machine = describeMachine();
    const work = openStage(cleanUp, say).then((stage) => measureUnderLoad(stage, values.quick ? QUICK : FULL, say));
    const { runningCalls, heartbeatTimeoutMs, ...figures } = await Promise.race([work, interrupted.promise]);
    const lines = Object.entries(figures).map(
      ([name, { median, p95, count }]) =>
        `${name.padEnd(16)} p50 ${median.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms (${count})`,
    );
    say(
      `${runningCalls} calls running, heartbeat time-out ${heartbeatTimeoutMs} ms, load ${machine.loadBefore} before`,
    );
    for (const line of lines) say(line);
    const summary = { runningCalls, heartbeatTimeoutMs, figures, machine, isQuick: values.quick === true };
    if (values.json === true) process.stdout.write(`${JSON.stringify(summary)}\n`);
  } finally {
    for (const end of cleanUp.toReversed()) await end().catch((error: unknown) => say(describeFailure(error)));
  }
}

try {
  await main();
  process.exit(0);
} catch (error) {
  process.stderr.write(`bench: ${describeFailure(error)}\n`);
  process.exit(1);
}
