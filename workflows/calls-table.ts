/** The calls of a turn as a Markdown table: what the Temporal UI shows as current details (E16). */
import type { CallView } from '../contract/turn.ts';

/** Current details answer a query, so their size is held; of a long turn the newest calls are of interest. */
const ROWS_MAX = 50;

export function callsTable(calls: readonly CallView[]): string {
  if (calls.length === 0) return 'No calls yet.';
  const hidden = Math.max(0, calls.length - ROWS_MAX);
  const rows = calls.slice(hidden).map((call) => {
    const exit = call.exitCode === undefined ? '' : String(call.exitCode);
    return row([code(call.key), call.status, code(call.summary), call.handle ?? '', exit]);
  });
  const table = [
    row(['key', 'status', 'summary', 'handle', 'exit']),
    row(['---', '---', '---', '---', '---']),
    ...rows,
  ];
  return (hidden === 0 ? table : [`${hidden} earlier calls are not shown.`, '', ...table]).join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** A key or a command may hold anything; in a cell neither a bar nor a line end nor a backtick may stay. */
function code(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .replaceAll('`', "'")
    .replaceAll('|', '\\|');
  return plain.trim() === '' ? '' : `\`${plain}\``;
}
