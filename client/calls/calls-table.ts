import { formatDuration } from '../watch/format-time.ts';
import { plainLine } from '../watch/plain-text.ts';
import type { CollectedCalls, CallLine } from './collect-calls.ts';

/** The widest that a column of free text gets, so that both and the rest fit a terminal. */
const TEXT_CHARACTERS = 36;

/** Calls as a table, and below it what is stuck, one line each. */
export function callsTable({ calls, notes }: CollectedCalls, ofNone = 'no calls'): string {
  if (calls.length === 0) return [ofNone, ...notes.map(noteLine)].join('\n');
  const head = ['KEY', 'STATUS', 'TIME', 'TRY', 'HANDLE', 'CALL', 'LAST LINE', 'CHAT', 'AGENT'];
  const rows = calls.map((call) => cells(call).map(plainLine));
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const lines = [head, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const stuck = calls.flatMap(({ key, stuck: reason }) => (reason === undefined ? [] : [`${key}: ${reason.text}`]));
  return [...lines, ...[...stuck, ...notes].map(noteLine)].join('\n');
}

function noteLine(text: string): string {
  return `! ${plainLine(text)}`;
}

function cells(call: CallLine): string[] {
  const exit = call.exitCode === undefined ? '' : ` ${call.exitCode}`;
  return [
    call.key,
    `${call.status}${exit}${call.stuck === undefined ? '' : ' !'}`,
    call.timeMs === undefined ? '' : formatDuration(call.timeMs),
    call.attempt === undefined ? '' : String(call.attempt),
    call.handle ?? '',
    cut(call.summary),
    cut(call.lastLine ?? ''),
    call.chatId,
    call.agentId,
  ];
}

function cut(text: string): string {
  const line = plainLine(text);
  return line.length <= TEXT_CHARACTERS ? line : `${line.slice(0, TEXT_CHARACTERS - 1).toWellFormed()}…`;
}
