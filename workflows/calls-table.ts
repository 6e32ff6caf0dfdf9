/** The calls of a turn as a Markdown table: what the Temporal UI shows as current details (E16). */
import { isResolved } from '../contract/calls.ts';
import type { CallView } from '../contract/turn.ts';

/** Current details answer a query, so their size is held; of a long turn the newest calls are of interest. */
const ROWS_MAX = 50;
/** A workflow hears no heartbeats, so its own word for a command that has run for an hour is still "starting". */
const LEGEND =
  '`starting`: its agent was asked to run it. Pending Activities tells the phase, the process and the last line.';

export function callsTable(calls: readonly CallView[]): string {
  if (calls.length === 0) return 'No calls yet.';
  const hidden = Math.max(0, calls.length - ROWS_MAX);
  const shown = calls.slice(hidden);
  // The text of any length comes last, so that the others keep their columns.
  const rows = shown.map((call) =>
    row([code(call.key), call.status, call.handle ?? '', evidenceOf(call), code(call.summary)]),
  );
  const table = [
    row(['key', 'status', 'handle', 'evidence', 'summary']),
    row([':---', ':---', ':---', ':---', ':---']),
    ...rows,
  ];
  const before = hidden === 0 ? [] : [`${hidden} earlier calls are not shown.`, ''];
  const after = shown.some(({ status }) => status === 'starting') ? ['', LEGEND] : [];
  return [...before, ...table, ...after].join('\n');
}

/** What the status rests on: "exit 1", or why there is no exit. */
function evidenceOf({ status, exitCode, evidence }: CallView): string {
  if (exitCode !== undefined) return evidence?.code === 'killed' ? `killed, exit ${exitCode}` : `exit ${exitCode}`;
  return isResolved(status) ? (evidence?.code ?? '') : '';
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/**
 * A key or a command may hold anything; in a cell neither a bar nor a line end nor a backtick may stay. A bar is
 * escaped outside the code: the Temporal UI shows the escape itself when it is within.
 */
function code(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .replaceAll('`', "'")
    .trim();
  const parts = plain.split('|').map((part) => part.replace(/\S(.*\S)?/su, (words) => `\`${words}\``));
  return parts.join('\\|');
}
