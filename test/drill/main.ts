/** `npm run drill`: eight kinds of stuck call, each named by the command line and settled by its documented step. */
import { parseArgs } from 'node:util';
import { runDrill } from './run-drill.ts';

const USAGE = `Usage: npm run drill [-- --json]

Breaks a system of its own in eight ways, looks at it with latchkey calls --stuck, and settles each call by the step
that docs/operations.md gives. Takes about a minute and a half. Exit code: 1 when a cause was not named or not settled.

  --json   the steps on standard error, one line of JSON on standard output
`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h', default: false } },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort(new Error('interrupted'));
  // Said twice (by npm, say) it must not cut the cleaning up short.
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const startedMs = performance.now();
  const say = (line: string): void => {
    const second = ((performance.now() - startedMs) / 1000).toFixed(1).padStart(6);
    (values.json ? process.stderr : process.stdout).write(`${second} s  ${line}\n`);
  };
  const { lines, violations } = await runDrill({ say, signal: interrupted.signal });
  const summary = {
    kinds: lines.length,
    named: lines.filter(({ isNamed }) => isNamed).length,
    settled: lines.filter(({ isSettled }) => isSettled).length,
    violations: violations.length,
  };
  const table = lines.map(
    ({ kind, made, shown, step, result }) =>
      `${kind}\n    made     ${made}\n    shown    ${shown}\n    step     ${step}\n    result   ${result}`,
  );
  if (!values.json) process.stdout.write(`\n${table.join('\n')}\n\n`);
  for (const violation of violations) process.stderr.write(`! ${violation}\n`);
  process.stdout.write(`${JSON.stringify(summary)}\n`);
  const isGood = summary.named === lines.length && summary.settled === lines.length && violations.length === 0;
  return isGood ? 0 : 1;
}

process.exit(await main());
