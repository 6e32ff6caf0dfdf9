/** The matrix for people: who died where → what was on disk → what recovery said → runs → result kept. */
import { cpus, release } from 'node:os';
import type { Tally } from './tally.ts';
import type { Observation } from './verify-key.ts';

export interface ReportFacts {
  readonly command: string;
  readonly seed: number;
  readonly seconds: number;
  readonly keys: number;
}

const COLUMNS = ['who died', 'where', 'what was on disk', 'recovery said', 'runs', 'result kept', 'keys'];

/** The last line of the command's output. */
export function summarize(tally: Tally, keys: number) {
  return {
    kills: tally.kills,
    keys,
    points: Object.fromEntries(tally.points),
    violations: tally.violations.length,
    unknown: tally.unknown,
  };
}

export function tableOf(observations: readonly Observation[]): string[][] {
  const rows = new Map<string, { cells: string[]; count: number }>();
  for (const { who, where, onDisk, said, runs, kept } of observations) {
    const cells = [who, where, onDisk, said, String(runs), kept];
    const name = cells.join('|');
    const row = rows.get(name) ?? { cells, count: 0 };
    row.count += 1;
    rows.set(name, row);
  }
  const sorted = [...rows.entries()].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return [COLUMNS, ...sorted.map(([, { cells, count }]) => [...cells, String(count)])];
}

export function toText(table: readonly (readonly string[])[]): string {
  const widths = COLUMNS.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}

export function toDocument(tally: Tally, facts: ReportFacts): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const [head = [], ...rows] = tableOf(tally.observations);
  const violations = tally.violations.map((violation) => `- ${violation}`).join('\n') || 'None.';
  return `# The crash matrix

Written by \`${facts.command}\` (seed ${facts.seed}); do not edit. Run it again to see for yourself: the seed repeats the
choices, not the machine's timing.

${tally.kills} kills (real SIGKILLs) met ${facts.keys} keys in ${facts.seconds} s on ${cpus().length} cores, Linux ${/^[\d.]+/.exec(release())?.[0] ?? 'of some kind'}, Node ${process.versions.node}.
**${tally.violations.length} violations**; ${tally.unknown} keys ended as unknown, as their keeper, their machine or their journal row was gone.

## What is checked for each key
At most one run for ever, also when it is started again at once, and in the end, after all other deaths · void, absent,
fenced or doubtful: no run · exited: exactly one, with the true code and the whole output · the daemon's death alone loses
no result · nothing runs that the journal calls ended · a fenced key never runs · another nonce or another command is told
nothing · the same question gets the same answer.

## What is real and what is simulated
Kills of daemon, keeper, child (the process that becomes the command) and reader are real. "Machine" kills everything
of the agent at once, empties the memory-backed folder, takes away or tears files that are not fsynced, and gives the next
daemon another boot id; the disk's own cache is not cut. After the death of a machine or of a reader the end of an output
is not owed, but what is there is a beginning of the true one. "Torn write" stops half way and dies. "pid-reused" gives a
stranger's pid to the record of a dead command; "row-deleted" takes a key out of the journal.
What is void or absent is started again, or fenced in about three of ten cases. The points are those of
\`agent/crash-points.ts\`; "…" is a line without its end.

## Points, and the keys that were under way when somebody died there
${[...tally.points].map(([point, count]) => `\`${point}\` ${count}`).join(' · ')}

## Violations
${violations}

## Observations
${line(head)}
${line(head.map(() => '---'))}
${rows.map(line).join('\n')}
`;
}
