/** The calls of a turn as a Markdown table: what the Temporal UI shows as current details (E16). */
import { isResolved } from '../contract/calls.ts';
import type { CallView } from '../contract/turn.ts';
import { toSafeText } from '../contract/well-formed.ts';

/** Current details answer a query, so their size is held; of a long turn the newest calls are of interest. */
const ROWS_MAX = 50;
/** The UI gives the table half a page; the activity's own summary is longer. */
const SUMMARY_CHARACTERS_SHOWN = 60;

/** Nothing but the table: beside a paragraph the UI cuts off the last row, which is the newest call. */
export function callsTable(calls: readonly CallView[]): string {
  if (calls.length === 0) return 'No calls yet.';
  const hidden = Math.max(0, calls.length - ROWS_MAX);
  // The text of any length comes last, so that the others keep their columns.
  const rows = calls
    .slice(hidden)
    .map((call) =>
      row([
        code(call.key),
        call.status,
        call.handle ?? '',
        evidenceOf(call),
        code(toSafeText(call.summary, SUMMARY_CHARACTERS_SHOWN)),
      ]),
    );
  return [
    row(['key', 'status', 'handle', 'evidence', 'summary']),
    row([':---', ':---', ':---', ':---', ':---']),
    ...(hidden === 0 ? [] : [row(['…', '', '', '', `${hidden} earlier calls are not shown`])]),
    ...rows,
  ].join('\n');
}

/** What the status rests on: "exit 1", or why there is no exit. */
function evidenceOf({ status, exitCode, evidence }: CallView): string {
  // A workflow hears no heartbeats: its own word for a command that has run for an hour is still "starting".
  if (status === 'starting') return 'see Pending Activities';
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
