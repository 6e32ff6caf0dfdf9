/** The Temporal side for people and for machines. */
import { cpus, release } from 'node:os';
import { CHECKERS } from './check-turn.ts';
import type { Checker } from './check-turn.ts';
import type { FaultTally } from './fault-tally.ts';

/** The member `temporal` of the last line of `npm run crash-matrix`. */
export function summarizeFaults(tally: FaultTally) {
  return {
    kills: tally.kills,
    turns: tally.turns,
    points: Object.fromEntries(tally.points),
    violations: tally.violations.length,
    doubleRuns: tally.of('oneRun'),
    lostResults: tally.of('resultKept'),
    wedged: tally.of('live'),
    unknown: tally.unknown,
    notRun: tally.notRun,
  };
}

/** How the calls ended, the most frequent first. */
export function endsOf(tally: FaultTally): { end: string; calls: number }[] {
  return [...tally.ends]
    .map(([end, calls]) => ({ end, calls }))
    .toSorted((left, right) => right.calls - left.calls || (left.end < right.end ? -1 : 1));
}

export function toFaultDocument(
  tally: FaultTally,
  facts: { readonly command: string; readonly seed: number; readonly seconds: number },
): string {
  const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  const checkers = Object.keys(CHECKERS) as Checker[];
  const version = /^[\d.]+/.exec(release())?.[0] ?? 'of some kind';
  return `# The fault matrix

Written by \`${facts.command}\` (seed ${facts.seed}); do not edit. Run it again to see for yourself: the seed repeats the
choices, not the machine's timing. What the agent and its keepers survive alone is in [crash-matrix.md](crash-matrix.md).

${tally.kills} kills (real SIGKILLs) met ${tally.turns} turns in ${facts.seconds} s on ${cpus().length} cores, Linux ${version}, Node ${process.versions.node}.
**${tally.violations.length} violations**: ${tally.of('oneRun')} double runs, ${tally.of('resultKept')} lost results, ${tally.of('live')} wedged turns. ${tally.unknown} calls ended as unknown,
${tally.notRun} as "nothing ran" (their agent could not be asked in time, or their step was closed; it is safe to ask for them again).

## What is done
A Temporal server on a file, two turn workers, two execute workers and an agent are processes of their own, started again
when they die, as a supervisor would. Seven to nine chats have turns side by side: short, failing, long and background
commands, slow models, refusals, signals, interrupts at several moments, terminations. Meanwhile a worker dies at each
named point (\`activities/fault-points.ts\`), everybody is killed, ended and frozen, and the lines to the agent and to
Temporal are cut, late, answered with 502, or held. In the end everybody dies once more, and nothing has begun since.

## What is checked for each turn
${row(['property', 'violations'])}
${row(['---', '---'])}
${checkers.map((name) => row([`[${name}](../test/fault-matrix/checkers/${fileOf(name)})`, tally.of(name)])).join('\n')}

## Points and faults, and how often they were met
${[...tally.points].map(([point, count]) => `\`${point}\` ${count}`).join(' · ')}

## How the calls ended
${row(['status (evidence)', 'calls'])}
${row(['---', '---'])}
${endsOf(tally)
  .map(({ end, calls }) => row([end, calls]))
  .join('\n')}

## Its last line
\`\`\`
${JSON.stringify({ temporal: summarizeFaults(tally) })}
\`\`\`

## Violations
${tally.violations.map(({ checker, text }) => `- ${checker}: ${text}`).join('\n') || 'None.'}
`;
}

function fileOf(checker: string): string {
  return `${checker.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;
}
